import { usageError } from '../../base/errors.ts'

/** An option or an argument in the map; `choices` where only these are taken. */
type Taken = { name: string; summary: string; choices: readonly string[] | null }

export type MapArgument = Taken & { required: boolean; variadic: boolean }

export type MapOption = Taken & {
  /** The name of one letter, with its dash. */
  short: string | null
  /** Whether a value stands behind it, and what it is called in the help. */
  value: 'none' | 'required' | 'optional'
  value_name: string | null
  /** Whether it may be given more than once. */
  variadic: boolean
  mandatory: boolean
  default: unknown
}

/** A command with all that stands below it, for programs. */
export type CommandMap = {
  name: string
  aliases: readonly string[]
  summary: string
  /** Whether it changes something, at the service or on this machine; `--dry-run` stands among the options where it has one. */
  writes: boolean
  /** Whether it asks first, in live mode or always. */
  asks: boolean
  arguments: readonly MapArgument[]
  options: readonly MapOption[]
  examples: readonly string[]
  commands: readonly CommandMap[]
}

const MAP_FORMS = ['tree', 'compact', 'paths', 'json'] as const
export type MapForm = (typeof MAP_FORMS)[number]

/** The form that `--map` asks for among these words, and the words without it; undefined where it is not there. */
export function takeMap(words: readonly string[]): { form: MapForm; rest: string[] } | undefined {
  const end = words.indexOf('--')
  const at = words.findIndex((word, index) => (end === -1 || index < end) && /^--map(=|$)/.test(word))
  const word = words[at]
  if (word === undefined) return undefined
  const next = MAP_FORMS.find((form) => form === words[at + 1])
  const isNext = !word.includes('=') && next !== undefined
  const named = word.includes('=') ? word.slice('--map='.length) : (next ?? 'tree')
  const form = MAP_FORMS.find((known) => known === named)
  if (form === undefined) throw usageError(`--map: "${named}" is none of ${MAP_FORMS.join(', ')}`, 'svc --map=tree')
  return { form, rest: [...words.slice(0, at), ...words.slice(at + (isNext ? 2 : 1))] }
}

/**
 * The command that words name; options among them, and their values, are of no part in it.
 * @throws {CliError} exit code 2 for a word that names none, and for `--query`
 */
export function findInMap(root: CommandMap, words: readonly string[]): { path: string[]; map: CommandMap } {
  let map = root
  const path = [root.name]
  const flags = [...root.options]
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (word.startsWith('-')) {
      refuseQuery(word)
      const option = flags.find(({ name, short }) => name === word || short === word)
      // Its value is the next word.
      if (option?.value === 'required') index += 1
      continue
    }
    const child = map.commands.find(({ name, aliases }) => name === word || aliases.includes(word))
    if (child === undefined)
      throw usageError(`there is no command "${word}" below ${path.join(' ')}`, 'svc --map=paths')
    map = child
    flags.push(...child.options)
    path.push(child.name)
  }
  return { path, map }
}

/** Nothing of the map is printed alone. */
function refuseQuery(word: string): void {
  const [flag = ''] = word.split('=')
  if (flag !== '-q' && flag !== '--query') return
  throw usageError(`--map is printed whole, as ${MAP_FORMS.join(', ')}: it takes no ${flag}`, 'svc --map=json')
}

/** The map as people or programs read it, without the last line end. */
export function mapText(
  { path, map }: { path: readonly string[]; map: CommandMap },
  form: MapForm,
  indent = 0,
): string {
  if (form === 'json') return JSON.stringify(map, null, indent)
  if (form === 'tree') return [`${path.join(' ')}  ${map.summary}`, ...treeLines(map, '')].join('\n')
  if (form === 'compact') return compactLines(path, map).join('\n')
  return pathsOf(path, map).join('\n')
}

function treeLines(map: CommandMap, before: string): string[] {
  return map.commands.flatMap((child, index) => {
    const isLast = index === map.commands.length - 1
    const marks = [child.writes ? 'writes' : '', child.asks ? 'asks' : ''].filter((mark) => mark !== '').join(', ')
    const line = `${before}${isLast ? '└─ ' : '├─ '}${usageOf(child)}${marks === '' ? '' : ` [${marks}]`}  ${child.summary}`
    return [line, ...treeLines(child, `${before}${isLast ? '   ' : '│  '}`)]
  })
}

function usageOf({ name, aliases, arguments: taken }: CommandMap): string {
  const named = [name, ...aliases].join('|')
  return [named, ...taken.map((each) => placeholder(each))].join(' ')
}

function placeholder({ name, required, variadic }: MapArgument): string {
  const text = `${name}${variadic ? '...' : ''}`
  return required ? `<${text}>` : `[${text}]`
}

/** One line for each command that has others: all its verbs. */
function compactLines(path: readonly string[], map: CommandMap): string[] {
  if (map.commands.length === 0) return [path.join(' ')]
  const names = map.commands.map(({ name }) => name).join('|')
  const below = map.commands.filter(({ commands }) => commands.length > 0)
  return [`${path.join(' ')} ${names}`, ...below.flatMap((child) => compactLines([...path, child.name], child))]
}

/** Every command that does something, one line each, as it is typed. */
function pathsOf(path: readonly string[], map: CommandMap): string[] {
  const own = map.commands.length === 0 ? [[...path, ...map.arguments.map(placeholder)].join(' ')] : []
  return [...own, ...map.commands.flatMap((child) => pathsOf([...path, child.name], child))]
}
