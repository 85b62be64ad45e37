#!/bin/sh
# Creates the secrets that docker-compose.yml mounts. Existing secrets are not changed.
# Only you can open the folder; the files in it are readable, because containers read them as other
# users.
set -eu
folder=${1:-"$(dirname "$0")/../../secrets"}
mkdir -p "$folder"
chmod 700 "$folder"

keep() { # name, value
  [ -s "$folder/$1" ] && return
  printf '%s\n' "$2" >"$folder/$1"
  chmod 644 "$folder/$1"
  echo "made $folder/$1"
}
password() { openssl rand -hex 24; }
key() { openssl rand -base64 32; }

keep secrets_key "$(key)"
keep jwt_secret "$(key)"
keep admin_token "$(password)"
keep temporal_codec_key "$(key)"
keep temporal_codec_token "$(password)"
keep metrics_token "$(password)"
keep mongo_keyfile "$(openssl rand -base64 512 | tr -d '\n')"
keep mongo_root_password "$(password)"
keep mongo_password "$(password)"
keep redis_password "$(password)"
keep postgres_password "$(password)"
keep qdrant_api_key "$(password)"
keep mongodb_uri "mongodb://assistants:$(cat "$folder/mongo_password")@mongo:27017/assistants?replicaSet=rs0"
keep redis_url "redis://:$(cat "$folder/redis_password")@redis:6379"
# Of docker-compose.cluster.yml.
keep redis_cluster_url "redis+cluster://:$(cat "$folder/redis_password")@redis:6379,redis-2:6379,redis-3:6379"
keep s3_access_key_id "$(openssl rand -hex 10)"
keep s3_secret_access_key "$(password)"
