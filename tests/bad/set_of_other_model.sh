"$DSE" eval swiftkv --set eviction=window --set sms=4 --set frobs=1
