type Why = readonly [message: string, hint: string]

/** Commands that people look for and that can't be: why, and what there is. By the words after `svc`. */
const NOT_COMMANDS: ReadonlyMap<string, Why> = new Map<string, Why>([
  [
    'sandbox clock reset',
    ['time does not go back: webhooks were sent and money has moved', 'make a new merchant: svc register'],
  ],
  ...['reject', 'refuse', 'decline', 'fail'].map((verb): [string, Why] => [`sandbox bank ${verb}`, fateOf(verb)]),
])

function fateOf(verb: string): Why {
  return [
    `a payment's fate at the mock bank is fixed when it is made, so "${verb}" is no command of the bank`,
    'svc payments create --amount 5.00 --currency GBP --scenario insufficient-funds',
  ]
}

/** What to say of a command that can't be; undefined for any other. */
export function notCommand(words: string): Why | undefined {
  return NOT_COMMANDS.get(words)
}
