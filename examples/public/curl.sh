#!/bin/sh
# Talks to a public assistant with curl. API_URL, ASSISTANT_ID and PUBLIC_TOKEN say to which:
#
#   eval "$(sh examples/public/open-assistant.sh)"
#   sh examples/public/curl.sh
set -eu
: "${API_URL:?}" "${ASSISTANT_ID:?}" "${PUBLIC_TOKEN:?}"

echo "1. The native stream: each data event carries the whole message so far"
curl --silent --show-error --fail-with-body --no-buffer "$API_URL/public/runs/stream" \
  -H "x-public-bot-token: $PUBLIC_TOKEN" -H 'content-type: application/json' \
  -d "{\"assistant_id\": \"$ASSISTANT_ID\", \"input\": [{\"type\": \"human\", \"content\": \"Hello! Who are you?\"}]}"

echo "2. A chat completion"
curl --silent --show-error --fail-with-body "$API_URL/public/v1/chat/completions" \
  -H "authorization: Bearer $PUBLIC_TOKEN" -H 'content-type: application/json' \
  -d '{"model": "assistant", "messages": [{"role": "user", "content": "Hello! Who are you?"}]}'
echo

echo "3. The same as a stream: each line carries what is added"
curl --silent --show-error --fail-with-body --no-buffer "$API_URL/public/v1/chat/completions" \
  -H "authorization: Bearer $PUBLIC_TOKEN" -H 'content-type: application/json' \
  -d '{"model": "assistant", "stream": true, "messages": [{"role": "user", "content": "Hello! Who are you?"}]}'
