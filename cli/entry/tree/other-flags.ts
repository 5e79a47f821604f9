import { typedAs } from '../../base/command-hints.ts'

/** A word that other command lines have, and the words that say the same here. */
type Other = { is: RegExp; takesValue: boolean; instead(value: string, word: string): readonly string[] }

const METHOD = /^[A-Z]+$/

/** Flags of curl and gh, as `svc api` has them. */
const OF_API: readonly Other[] = [
  { is: /^(-X|--method|--request)$/, takesValue: true, instead: (value) => [value.toUpperCase()] },
  { is: /^-X\w+$/, takesValue: false, instead: (_, word) => [word.slice(2).toUpperCase()] },
  { is: /^(-i|--include)$/, takesValue: false, instead: () => ['--show-headers'] },
  { is: /^(--jq|-t|--template)$/, takesValue: true, instead: (value) => ['-q', value.replace(/^\./, '')] },
  { is: /^(--input|-d|--data(-raw|-binary)?)$/, takesValue: true, instead: (value) => ['-F', fileOf(value)] },
  { is: /^--raw-field$/, takesValue: true, instead: (value) => ['-f', value] },
  { is: /^--paginate$/, takesValue: false, instead: () => ['-f', 'limit=100'] },
]

/** A body on the command line is a file here, so that no secret of it stays in the history of the shell. */
function fileOf(value: string): string {
  if (/^[{[]/.test(value)) return '<file>'
  return value.replace(/^@/, '') || '-'
}

/** The same command line with our words for a flag that it has not; undefined where it is not known what was meant. */
export function withOurFlag(words: readonly string[], wrong: string | undefined): string | undefined {
  const noun = words.indexOf('api')
  const [flag = ''] = wrong?.split('=') ?? []
  const at = words.findIndex((word) => word.split('=')[0] === flag)
  const other = OF_API.find(({ is }) => is.test(flag))
  if (noun === -1 || at < noun || other === undefined) return undefined
  const typed = words[at] ?? ''
  const value = typed.includes('=') ? typed.slice(typed.indexOf('=') + 1) : (words[at + 1] ?? '')
  const rest = words.slice(at + (other.takesValue && !typed.includes('=') ? 2 : 1))
  const ours = other.instead(value, typed)
  const isMethod = METHOD.test(ours[0] ?? '')
  const behind = words.slice(noun + 1, at)
  const line = isMethod ? [...ours, ...behind, ...rest] : [...behind, ...ours, ...rest]
  // A field alone would make it a POST.
  if (ours[0] === '-f' && flag === '--paginate' && !METHOD.test(line[0] ?? '')) line.unshift('GET')
  return ['svc', ...words.slice(0, noun), 'api', ...line].map((word) => shown(word)).join(' ')
}

/** What is to be filled in stays readable. */
function shown(word: string): string {
  return /^<\w+>$/.test(word) ? word : typedAs(word)
}
