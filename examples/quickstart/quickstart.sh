#!/bin/sh
# From nothing to an answer, with sh and curl only: sign up, read the code from the mailbox, verify,
# log in, create an assistant and a thread, stream a run, read the thread's state.
#
#   npm start                            # in another terminal
#   sh examples/quickstart/quickstart.sh
#
# API_URL and MAILBOX_URL are read from .data/addresses.json, which `npm start` writes; set them for
# any other service. MAILBOX_URL is the page of the local mail receiver (maildev).
set -eu

# The string under a name in JSON, the first one found. A real client would use a JSON parser.
field() { sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' | head -n 1; }

addresses="${DATA_DIR:-.data}/addresses.json"
API_URL="${API_URL:-$(field api <"$addresses" 2>/dev/null || true)}"
MAILBOX_URL="${MAILBOX_URL:-$(field mailbox <"$addresses" 2>/dev/null || true)}"
if [ -z "$API_URL" ] || [ -z "$MAILBOX_URL" ]; then
  echo "Is the service running? Start it with npm start, or set API_URL and MAILBOX_URL." >&2
  exit 1
fi

# post <path> <json>: one JSON request; a refusal ends the script with what the service said.
post() {
  curl --silent --show-error --fail-with-body -X POST "$API_URL$1" \
    -H 'content-type: application/json' ${TOKEN:+-H "authorization: Bearer $TOKEN"} -d "$2" ||
    { echo "POST $1 was refused" >&2; exit 1; }
}

email="quickstart-$(date +%s)-$$@example.com"
password="a good long password"

echo "1. Sign up as $email"
post /auth/signup "{\"email\": \"$email\", \"password\": \"$password\", \"first_name\": \"Ada\"}" >/dev/null

echo "2. Read the code from the mailbox at $MAILBOX_URL"
code=""
tries=0
while [ -z "$code" ]; do
  # In the JSON of the mail the code stands on a line of its own: \n123456\n
  code=$(curl --silent --show-error "$MAILBOX_URL/email?to.address=$email" |
    grep -o '\\n[0-9][0-9][0-9][0-9][0-9][0-9]\\n' | head -n 1 | tr -cd '0-9' || true)
  tries=$((tries + 1))
  if [ -z "$code" ] && [ "$tries" -ge 60 ]; then echo "No mail came." >&2; exit 1; fi
  [ -n "$code" ] || sleep 0.5
done

echo "3. Verify with $code, and log in"
post /auth/verify-email "{\"email\": \"$email\", \"code\": \"$code\"}" >/dev/null
TOKEN=$(post /auth/login "{\"email\": \"$email\", \"password\": \"$password\"}" | field jwt_token)

echo "4. Create an assistant and a thread"
assistant=$(post /assistants/ '{
  "name": "Quickstart",
  "config": {"type==agent/system_message": "You are a friendly assistant. Be brief."}
}' | field assistant_id)
thread=$(post /threads/ "{\"name\": \"My first thread\", \"assistant_id\": \"$assistant\"}" | field thread_id)

echo "5. Stream a run: each data event carries the whole message so far"
curl --silent --show-error --fail-with-body --no-buffer -X POST "$API_URL/runs/stream" \
  -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \
  -d "{
    \"thread_id\": \"$thread\",
    \"input\": [{\"type\": \"human\", \"content\": \"Hello! Who are you?\"}],
    \"config\": {\"configurable\": {\"assistant_id\": \"$assistant\", \"thread_id\": \"$thread\"}}
  }"

echo "6. Read the thread's state"
curl --silent --show-error --fail-with-body "$API_URL/threads/$thread/state" -H "authorization: Bearer $TOKEN"
echo
