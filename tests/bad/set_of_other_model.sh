"$DSE" eval swiftkv --set softmax_passes=2 --set sms=4 --set frobs=1
