#!/bin/sh
# Every night: prove that the audit is whole, keep it and the payments, look the service over.
#   15 2 * * *  /opt/svc/nightly.sh /var/backups/svc
# Silent when all is well, so that cron sends mail only when there is something to read. Exit code 3: the audit is not
# whole; 1: the doctor has findings; others are those of svc.
set -eu
umask 077
folder=${1:?the folder to keep things in}
today=$(date -u +%Y-%m-%d)
heads=$folder/audit.heads

operator() { ${SVC:-svc} ${OPERATOR:+--profile "$OPERATOR"} "$@" </dev/null; }
merchant() { ${SVC:-svc} ${MERCHANT:+--profile "$MERCHANT"} "$@" </dev/null; }
# The output of a command is kept back, and printed if it fails.
quietly() {
  said=$("$@" 2>&1) || { status=$?; printf '%s\n' "$said" >&2; exit "$status"; }
}

# The heads of the run before must stand in today's chains: then nothing was cut off since.
set --
if [ -s "$heads" ]; then
  while read -r head; do set -- "$@" --expect-head "$head"; done <"$heads"
fi
quietly operator audit verify "$@" -o id
printf '%s\n' "$said" | { grep -E '^(operator_actions|checkpoints):[1-9]' || true; } >"$heads.new"
mv "$heads.new" "$heads"

quietly operator audit export --file "$folder/audit-$today.jsonl" --force
quietly merchant payments export --file "$folder/payments-$today.csv" --force
quietly operator doctor -q 'checks[].fix'
