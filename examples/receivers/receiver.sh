#!/usr/bin/env bash
# A receiver of webhooks: it checks who sent them, and acts once on each event. Bash, openssl, coreutils, sed, awk and flock.
# It answers one request from standard input on standard output, as inetd runs programs:
#   export SVC_WEBHOOK_SECRET=<your signing secret>
#   socat -T 10 TCP-LISTEN:"${PORT:-4242}",bind=127.0.0.1,fork,reuseaddr EXEC:./receiver.sh
# or by systemd: a .socket with Accept=yes and a .service with StandardInput=socket and StandardError=journal.
set -uo pipefail
export LC_ALL=C
secret=${SVC_WEBHOOK_SECRET:?is not set}
unset SVC_WEBHOOK_SECRET
body_max=1048576
# One file for each event does for a start: in production the note and the act belong in one database transaction, the
# note into a table with a unique eventId, kept for 30 days or longer.
received=$(dirname -- "$0")/received

# Standard output is the connection, so what is done is logged on standard error.
act() {
  echo "$1 $2" >&2
}

# The lock is released first: a sender that has its answer may send the event again at once.
answer() {
  exec 9>&-
  printf 'HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1"
  exit 0
}

# The key of one half of HMAC: each character of the secret, which fills SHA-256's block of 64, xor the given byte.
pad() {
  local index code byte bytes=''
  for ((index = 0; index < 64; index++)); do
    code=0
    ((index < ${#secret})) && printf -v code %d "'${secret:index:1}"
    printf -v byte '\\x%02x' $((code ^ $1))
    bytes+=$byte
  done
  printf %b "$bytes"
}

# openssl's own HMAC takes the key on its command line, where all users of the machine see it. printf is bash's own and
# starts no program, so through two plain digests the secret goes nowhere but into a pipe.
hmac() {
  { pad 0x5c; { pad 0x36; cat -- "$1"; } | openssl dgst -sha256 -binary; } | openssl dgst -sha256 -r | cut -c 1-64
}

# Compares every character, so that the time it takes does not depend on where they differ.
equal() {
  local index left right differ=0
  ((${#1} == 64 && ${#2} == 64)) || return 1
  for ((index = 0; index < 64; index++)); do
    printf -v left %d "'${1:index:1}"
    printf -v right %d "'${2:index:1}"
    differ=$((differ | (left ^ right)))
  done
  ((differ == 0))
}

shopt -s nocasematch
length='' newest='' previous=''
read -r -t 10 method _ || exit 0
for ((lines = 0; lines < 100; lines++)); do
  read -r -t 10 line || exit 0
  line=${line%$'\r'}
  [[ -n $line ]] || break
  value=${line#*:}
  value=${value# }
  case $line in
    content-length:*) length=$value ;;
    x-service-signature:*) newest=$value ;;
    x-service-signature-previous:*) previous=$value ;;
  esac
done
shopt -u nocasematch

[[ $method == POST ]] || answer '405 Method Not Allowed'
[[ $length =~ ^[0-9]+$ ]] || answer '411 Length Required'
((${#length} <= 7 && 10#$length <= body_max)) || answer '413 Content Too Large'
body=$(mktemp) || answer '500 Internal Server Error'
trap 'rm -f -- "$body"' EXIT
head -c "$length" >"$body"

# The signature is made over the bytes as they arrived: a body that was parsed and written again has another one. While
# a rotation's overlap lasts there are two, of the new secret and of the one before; either proves the sender.
expected=$(hmac "$body")
equal "$expected" "$newest" || equal "$expected" "$previous" || answer '401 Unauthorized'

# Two members of the outermost object, wherever they stand in it; nothing further down can pass for them. Without escapes
# every second piece between quotation marks is a string, and the braces of the others say how deep it stands.
envelope() {
  sed 's/\\./?/g' "$1" | awk -v RS='"' '
    NR % 2 { depth += gsub(/[{[]/, "") - gsub(/[]}]/, ""); is_value = /:[ \t\r\n]*$/; next }
    depth == 1 && is_value { text[key] = $0; next }
    depth == 1 { key = $0 }
    END { print text["eventId"] "|" text["eventType"] }'
}

IFS='|' read -r event_id event_type < <(envelope "$body")
[[ $event_id =~ ^[A-Za-z0-9_]+$ && $event_type =~ ^[A-Za-z0-9._-]+$ ]] || answer '400 Bad Request'
# The same event may come again: it is answered at once, and nothing is done twice. Who acts on an event holds its file,
# and lets go of it however that ends. A file is empty until it ended well: then the event is sent again, and acted on.
mkdir -p -m 700 -- "$received" || answer '500 Internal Server Error'
exec 9>>"$received/$event_id" || answer '500 Internal Server Error'
flock -n -E 75 9
case $? in
  0) ;;
  75) answer '200 OK' ;;
  *) answer '500 Internal Server Error' ;;
esac
if [[ ! -s $received/$event_id ]]; then
  act "$event_type" "$event_id" 9>&- || answer '500 Internal Server Error'
  echo acted >&9 || answer '500 Internal Server Error'
fi
answer '200 OK'
