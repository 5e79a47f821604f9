#!/bin/sh
# For a status bar or a pager: one line, and an exit code. 0: nothing is overdue; 10: something is; others are those of svc.
set -eu
operator() { ${SVC:-svc} ${OPERATOR:+--profile "$OPERATOR"} "$@"; }

items=$(operator inbox --platform --all -q '[].overdue' </dev/null)
waiting=$(printf '%s' "$items" | grep -c . || true)
overdue=$(printf '%s' "$items" | grep -c true || true)
printf '%s waiting, %s overdue\n' "$waiting" "$overdue"
[ "$overdue" -eq 0 ] || exit 10
