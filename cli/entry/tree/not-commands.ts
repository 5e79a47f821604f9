import { typedAs } from '../../base/command-hints.ts'

type Why = readonly [message: string, hint: string]
/** As it was typed after `svc`; `wrong` is the word that is no command or flag. */
type Typed = { words: readonly string[]; wrong: string }
type Answer = Why | ((typed: Typed) => Why)

const BANK = 'svc sandbox bank list\nsvc payments create --amount 5.00 --currency GBP --scenario insufficient-funds'

/** Words that people look for and that can't be: why, and what there is. By the words after `svc`. */
const NOT_COMMANDS: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  [
    'sandbox clock reset',
    ['time does not go back: webhooks were sent and money has moved', 'make a new merchant: svc register'],
  ],
  ...['reject', 'refuse', 'decline', 'fail'].flatMap((verb): [string, Answer][] => [
    [`sandbox bank ${verb}`, fateOf(verb)],
    [`sandbox ${verb}`, fateOf(verb)],
  ]),
  ...['approve', 'cancel'].map((verb): [string, Answer] => [
    `sandbox ${verb}`,
    (typed) => [`the payer says so at the bank, so "${verb}" is a command of the bank`, inPlace(typed, ['bank', verb])],
  ]),
  ['sandbox bank set', ["a payment's fate at the mock bank is its scenario, so there is nothing to set", BANK]],
  [
    'sandbox seed --reset',
    ['svc sandbox seed adds to what is there, and removes nothing', 'svc sandbox reset\nsvc up --seed demo'],
  ],
  [
    'settlements',
    [
      'money goes straight to the merchant with each payment, so there are no settlements',
      'svc payments list --fees\nsvc payments export --file payments.csv',
    ],
  ],
  ...['--wait', '--timeout'].map((flag): [string, Answer] => [
    `disputes raise ${flag}`,
    (typed) => ['a dispute is there as soon as it is raised: there is nothing to wait for', without(typed)],
  ]),
])

function fateOf(verb: string): Why {
  return [
    `a payment's fate at the mock bank is fixed when it is made, so "${verb}" is no command of the bank`,
    'svc payments create --amount 5.00 --currency GBP --scenario insufficient-funds',
  ]
}

/** The same command line with other words in the place of the wrong one. */
function inPlace({ words, wrong }: Typed, others: readonly string[]): string {
  return lineOf(words.flatMap((word) => (word === wrong ? others : [word])))
}

/** The same command line without the flag and its value. */
function without({ words, wrong }: Typed): string {
  const at = words.findIndex((word) => word === wrong || word.startsWith(`${wrong}=`))
  const hasValue = words[at] === wrong && !(words[at + 1] ?? '--').startsWith('-')
  return lineOf(words.filter((_, index) => index !== at && !(hasValue && index === at + 1)))
}

function lineOf(words: readonly string[]): string {
  return ['svc', ...words.map((word) => typedAs(word))].join(' ')
}

/**
 * What to say of a word that can't be; undefined for any other.
 * @param noun the words before it that name a command, each with a blank behind it
 */
export function notCommand(noun: string, typed: Typed): Why | undefined {
  const answer = NOT_COMMANDS.get(`${noun}${typed.wrong}`)
  return typeof answer === 'function' ? answer(typed) : answer
}
