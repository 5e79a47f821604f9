#!/bin/sh
# For a status bar or a pager: one line, and an exit code. 0: nothing is overdue; 10: something is; others are those of svc.
#   oncall.sh            once
#   oncall.sh --watch    the inbox itself, at a terminal, until Ctrl+C
set -eu
operator() { ${SVC:-svc} ${OPERATOR:+--profile "$OPERATOR"} "$@"; }

if [ "${1:-}" = --watch ]; then
  operator inbox --platform --watch
  exit
fi
items=$(operator inbox --platform --all -q '[].overdue' </dev/null)
waiting=$(printf '%s' "$items" | grep -c . || true)
overdue=$(printf '%s' "$items" | grep -c true || true)
printf '%s waiting, %s overdue\n' "$waiting" "$overdue"
[ "$overdue" -eq 0 ] || exit 10
