#!/bin/sh
# Lists of requests: logs as servers and simulators write them, by the names of their columns.
. "$(dirname "$0")/lib.sh"

printf '[requests]\nseen = "seen.csv"\n' >own.toml
# The medians and 90th percentiles of prompt and generation, and the most tokens, of a log in printf's writing.
reads() { # WANTED LOG
    printf "$2" >seen.csv
    "$DSE" list requests seen -c own.toml --format csv >out.csv 2>err.txt || fail "$2 is not read: $(cat err.txt)"
    got=$(tail -n 1 out.csv | cut -d, -f2-6)
    [ "$got" = "$1" ] || fail "$2 is read as $got"
}
refuses() { # PATTERN LOG: one error
    printf "$2" >seen.csv
    status=0
    "$DSE" list requests -c own.toml >out.csv 2>err.txt || status=$?
    [ $status -eq 2 ] && [ "$(grep -c ': error: ' err.txt)" -eq 1 ] && grep -q "$1" err.txt || fail "$2: exit status $status, $(cat err.txt)"
}

two=10,30,20,40,70 # two requests of 10 + 20 and 30 + 40 tokens
reads $two '# source: ours\nprompt,generate\n10,20\n30,40\n'
grep -q '"ours"' out.csv || fail "the source of a list is lost: $(cat out.csv)"
reads $two 'generate,prompt\n20,10\n40,30\n'
reads $two 'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,10,20\r\n2023-11-16 18:17:04.0319600,30,40\r\n'
reads $two '\357\273\277timestamp,contexttokens,GENERATEDTOKENS\n2024-05-10 00:00:00.009930+00:00,10,20\n2024-05-10 00:00:01+00:00,30,40\n'
reads $two 'arrived_at,num_prefill_tokens,num_decode_tokens,pd_ratio\n0.1,10,20,0.5\n0.2,30.0,40.0,0.75\n'
reads $two ',num_total_tokens,num_decode_tokens,num_prefill_tokens\n0,30,20,10\n1,70,40,30\n'
reads $two 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,10,20,30,Conversation log\n45,GPT-4,30,40,70,API log\n'
reads $two '{"timestamp": 0, "input_length": 10, "output_length": 20, "hash_ids": [0, 1]}\n{"timestamp": 27, "input_length": 30, "output_length": 40, "hash_ids": []}\n'
reads $two '[{"prompt": "a", "prompt_len": 10, "output_len": 20},\n {"prompt": "b", "prompt_len": 30, "output_len": 40}]\n'
reads $two '{"id": "x", "usage": {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}}\n\n{"usage": {"completion_tokens": 40, "prompt_tokens": 30}}'
reads $two '{"model": "x", "requests": [{"input_tokens": 10, "output_tokens": 20}, {"input_tokens": 30, "output_tokens": 40}]}\n'
reads $two 'prompt,prompt_len,output_len\n"Hello, you",10,20\n"two\n# lines",30,40\n'
reads $two 'request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n0,2,0,0.1,1,10,20\n1,2,0,0.2,1,30,40\n'
for names in input_tokens,output_tokens prompt_tokens,completion_tokens input_length,output_length prompt_len,expected_output_len isl,osl InputTokens,OutputTokens \
    'Input Tokens,Output Tokens' num_prompt_tokens,num_generated_tokens prefill_tokens,decode_tokens n_input,n_output tokens_in,tokens_out 'prompt length,response length'; do
    reads $two "$names\n10,20\n30,40\n"
done
# Semicolons and tabs, quoted names.
reads $two 'prompt;generate\n10;20\n30;40\n'
reads $two 'ContextTokens\tGeneratedTokens\r\n10\t20\r\n30\t40\r\n'
reads $two '"id";"input tokens, all";"input_tokens";"output_tokens"\n1;5;10;20\n2;5;30;40\n'
refuses 'seen.csv:2:1: error: prompt: "10,5" is not a finite number' 'prompt;generate\n10,5;20\n'

# What generates nothing is counted and left out, with one note, wherever it stands.
for log in 'TIMESTAMP,ContextTokens,GeneratedTokens\n0,7,0\n1,10,20\n2,,\n3,30,40\n4,9,0\n' \
    '{"input_length": 7, "output_length": 0}\n{"input_length": 10, "output_length": 20}\n{"input_length": 30, "output_length": 40}\n{"input_length": 9, "output_length": null}\n{"input_length": null, "output_length": null}\n'; do
    reads $two "$log"
    [ "$(cat err.txt)" = 'seen.csv: note: 3 of 5 requests generate nothing, and are left out' ] || fail "$log: $(cat err.txt)"
done
refuses 'none of the 2 requests generates anything' 'prompt,generate\n1,0\n2,0\n'

# One error, at its place, however long the log is.
rows=$(awk 'BEGIN { for (i = 0; i < 5000; i++) printf "1,2,3\\n" }')
refuses 'seen.csv:1:1: error: no column says how long prompts are, and none how much is generated' "a,b,c\n$rows"
refuses 'seen.csv:1:1: error: no column says how much is generated' "time,ContextTokens,c\n$rows"
refuses 'seen.csv:1:1: error: no column says the length of the prompt' "total_tokens,output_tokens,c\n$rows"
refuses 'both column 1, input_tokens, and column 3, prompt_tokens, may be the length of the prompt' "input_tokens,output_tokens,prompt_tokens\n$rows"
refuses 'seen.csv:2:3: error: generate: "x" is not a finite number' 'prompt,generate\n1,x\n2,y\n3,z\n'
refuses 'seen.csv:3:1: error: request mix seen: a prompt of 0 tokens' 'prompt,generate\n5,6\n0,4\n'
refuses 'seen.csv:2:1: error: request mix seen: a prompt of 0 tokens' '{"input_length": 5, "output_length": 6}\n{"input_length": 0, "output_length": 6}\n'
refuses 'seen.csv:2:1: error: request 2: no key says how much is generated' '{"isl": 5, "osl": 6}\n{"isl": 5}\n{"isl": 6}\n'
refuses 'seen.csv:2:1: error: is not JSON' '{"isl": 5, "osl": 6}\n{"isl": 5, "osl" 6}\n'
refuses 'seen.csv:2:1: error: request 2 is no object' '{"isl": 5, "osl": 6}\n7\n'

# A sweep takes the mean over what is left.
printf 'ContextTokens,GeneratedTokens\n100,20\n300,0\n' >seen.csv
"$DSE" eval flashdecoding -c own.toml --requests seen --format csv >seen.out 2>err.txt || fail "no mean over a log: $(cat err.txt)"
printf 'prompt,generate\n100,20\n' >seen.csv
"$DSE" eval flashdecoding -c own.toml --requests seen --format csv 2>/dev/null | cmp - seen.out || fail "the mean over a log is another"
