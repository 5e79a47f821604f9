#!/bin/sh
# A day's work of an operator and of a merchant, without any question.
# Progress goes to standard error; standard output has one line for each thing that was done: <what> <id>.
#   day.sh [<folder for the secret and the payments>]
# SVC is how svc is called (svc), OPERATOR and MERCHANT are profiles to use (the demo logins of svc up).
# Any step that fails ends it, with the exit code of the command: svc help exit-codes.
set -eu
umask 077
folder=${1:-.}

say() { printf '%s\n' "$*" >&2; }
did() { printf '%s %s\n' "$1" "$2"; }
# Nothing is read from standard input, so nothing can wait for an answer.
operator() { ${SVC:-svc} ${OPERATOR:+--profile "$OPERATOR"} "$@" </dev/null; }
merchant() { ${SVC:-svc} ${MERCHANT:+--profile "$MERCHANT"} "$@" </dev/null; }
# In live mode what hurts a merchant asks first; --yes is the answer, and the ids below are whole.
yes=--yes

say '1. Tasks that need action'
waiting=$(operator inbox --platform --all -o id)
say "   $(printf '%s' "$waiting" | grep -c . || true) tasks in the inbox"

# A command's output is kept in a variable first: only there does the shell end with the command's own exit code.
# With -o jsonl there are no remarks, such as that there are more than were asked for.
say '2. KYB review: approve the merchant that has waited longest'
applicant=$(operator kyb list --status PENDING --limit 1 -o jsonl -q '[].id')
if [ -n "$applicant" ]; then
  approved=$(operator kyb approve "$applicant" --reason 'documents checked' -o id)
  did approved "$approved"
else
  say '   none'
fi

say '3. Hold the payouts of a merchant while it is looked at, and release them'
suspect=$(operator merchants list --status APPROVED --order oldest --limit 1 -o jsonl -q '[].id')
was_held=$(operator merchants show "$suspect" -q payout_held)
if [ "$was_held" = false ]; then
  held=$(operator hold set "$suspect" --reason 'refunds doubled since yesterday' $yes -q payout_held)
  [ "$held" = true ]
  did held "$suspect"
  held=$(operator hold release "$suspect" --reason 'a sale, and returns after it' -q payout_held)
  [ "$held" = false ]
  did released "$suspect"
else
  say '   held already, and not by us: left as it is'
fi

say '4. Disputes under review: the oldest for the merchant, the next for the payer, the third to an OWNER'
disputes=$(operator disputes list --all-merchants --status UNDER_REVIEW --order oldest --limit 3 -o jsonl -q '[].id')
turn=merchant
for dispute in $disputes; do
  case $turn in
    merchant)
      decided=$(operator disputes resolve "$dispute" --favour merchant --note 'signed for at the door' $yes -q status)
      turn=payer
      ;;
    payer)
      decided=$(operator disputes resolve "$dispute" --favour payer --note 'it never came' --refund $yes -q status)
      turn=owner
      ;;
    owner) decided=$(operator disputes escalate "$dispute" --reason 'a pattern: the third this week' -q status) ;;
  esac
  did "$decided" "$dispute"
done
[ -n "$disputes" ] || say '   none'

say '5. A new secret for webhooks; the previous one signs as well for a day'
overlap=$(merchant secret show -q previous_expires_at)
if [ -z "$overlap" ]; then
  merchant secret rotate --overlap 24h $yes -q webhook_signing_secret >"$folder/webhook-secret"
  masked=$(merchant secret show -q masked_secret)
  did rotated "$masked"
else
  say "   the overlap of the last rotation runs until $overlap"
fi

say '6. Dead webhooks: send them again, merchant by merchant'
dead=$(operator webhooks list --all-merchants --status DEAD --all -q '[].merchant_id')
for deaf in $(printf '%s\n' "$dead" | sort -u); do
  operator webhooks replay --status DEAD --merchant "$deaf" --reason 'their server is back' -o id >/dev/null
  did replayed "$deaf"
done
[ -n "$dead" ] || say '   none'

say '7. The audit: every row where it was, and as it was'
operator audit verify -o id >"$folder/audit-heads.txt"
did verified "$folder/audit-heads.txt"

say '8. The payments, for the books'
merchant payments export --file "$folder/payments.csv" --force
did exported "$folder/payments.csv"

say '9. Diagnose problems with the service; findings are for tomorrow, and do not fail this run'
status=0
advice=$(operator doctor -q 'checks[].fix') || status=$?
case $status in
  0) say '   nothing' ;;
  1) say "$advice" ;;
  *) exit "$status" ;;
esac
say 'Done.'
