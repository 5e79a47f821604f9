export const TOPICS = [
  { topic: 'topics', meaning: 'this list' },
  { topic: 'all', meaning: 'every command' },
  { topic: 'global', meaning: 'the options of every command' },
  { topic: 'output', meaning: 'the forms of results, and what goes to which stream' },
  { topic: 'formats', meaning: 'how durations, times, money and ids are written' },
  { topic: 'exit-codes', meaning: 'what exit codes mean' },
  { topic: 'environment', meaning: 'the variables that commands read, and what goes before what' },
] as const

type Term = { name: string; meaning: string }

export const OUTPUT_TERMS: readonly Term[] = [
  { name: 'table', meaning: 'for people: lists as columns, one thing as lines; the form where nothing is said' },
  { name: 'json', meaning: 'one JSON value; laid out in a terminal, one line where it is piped' },
  { name: 'jsonl', meaning: 'one JSON object per line, for streams' },
  { name: 'yaml', meaning: 'the same members as JSON' },
  { name: 'csv', meaning: 'one line per row, below the names of the columns unless --no-header is given' },
  { name: 'id', meaning: 'only ids, one per line, for xargs' },
  { name: '--json=a,b', meaning: 'JSON with these members alone; with -o csv, CSV with these columns' },
  { name: '-q <path>', meaning: 'the value at a path, raw: -q payment_id, -q status_history[0].new_status, -q [].id' },
  { name: 'standard output', meaning: 'results and nothing else' },
  {
    name: 'standard error',
    meaning:
      'remarks, questions and errors, which are text with -o yaml, csv and id; with JSON nothing but an error, as JSON too',
  },
]

export const FORMAT_TERMS: readonly Term[] = [
  { name: 'durations', meaning: 'a whole number and ms, s, m, h or d: 250ms, 90s, 5m, 2h, 1d' },
  {
    name: 'times',
    meaning: 'so long ago (-2h, or 2h), a day (2026-11-21, from its first moment in UTC), or ISO 8601 with its zone',
  },
  {
    name: 'money',
    meaning: 'a decimal: 50.00, or 50; without a sign or marks between thousands',
  },
  { name: 'currencies', meaning: 'three letters: GBP' },
  { name: 'shares', meaning: 'a decimal: 0.0100 is 1 %' },
  {
    name: 'ids',
    meaning:
      'whole, or the last 8 characters or more, where only one thing ends so; merchants also by realm or client id',
  },
  { name: 'key=value', meaning: 'once for each: --metadata order=17 --metadata shop=3' },
  { name: 'choices', meaning: 'in any case: --status settled' },
]
