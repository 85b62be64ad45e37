#!/bin/sh
# Makes an assistant that is open to callers with a token, and prints what they need:
#
#   eval "$(sh examples/public/open-assistant.sh)"
#
# TOKEN is the access token of its owner. Without one, a new user signs up first, which works where
# the mails can be read: with `npm start`, whose addresses are in .data/addresses.json.
set -eu

# The string under a name in JSON, the first one found. A real client would use a JSON parser.
field() { sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' | head -n 1; }

addresses="${DATA_DIR:-.data}/addresses.json"
API_URL="${API_URL:-$(field api <"$addresses" 2>/dev/null || true)}"
MAILBOX_URL="${MAILBOX_URL:-$(field mailbox <"$addresses" 2>/dev/null || true)}"
if [ -z "$API_URL" ]; then
  echo "Is the service running? Start it with npm start, or set API_URL." >&2
  exit 1
fi

# post <path> <json>: one JSON request; a refusal ends the script with what the service said.
post() {
  curl --silent --show-error --fail-with-body -X POST "$API_URL$1" \
    -H 'content-type: application/json' ${TOKEN:+-H "authorization: Bearer $TOKEN"} -d "$2" ||
    { echo "POST $1 was refused" >&2; exit 1; }
}

sign_up() {
  email="public-$(date +%s)-$$@example.com"
  password="a good long password"
  post /auth/signup "{\"email\": \"$email\", \"password\": \"$password\"}" >/dev/null
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
  post /auth/verify-email "{\"email\": \"$email\", \"code\": \"$code\"}" >/dev/null
  TOKEN=$(post /auth/login "{\"email\": \"$email\", \"password\": \"$password\"}" | field jwt_token)
}

[ -n "${TOKEN:-}" ] || sign_up

# Whoever holds this may talk to the assistant, at its owner's cost: 128 random bits.
PUBLIC_TOKEN="pub-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
ASSISTANT_ID=$(post /assistants/ "{
  \"name\": \"Public helper\",
  \"config\": {
    \"type==agent/system_message\": \"You are a friendly assistant. Be brief.\",
    \"type==agent/access_mode\": \"public_token\",
    \"type==agent/public_token\": \"$PUBLIC_TOKEN\"
  }
}" | field assistant_id)

echo "export API_URL='$API_URL' ASSISTANT_ID='$ASSISTANT_ID' PUBLIC_TOKEN='$PUBLIC_TOKEN'"
