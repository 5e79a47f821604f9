import { NOUN_GROUPS } from '../../cli/base/command-names.ts'
import type { CommandMap } from '../../cli/entry/tree/map.ts'
import { wholeMap } from '../../cli/entry/tree/write-map.ts'
import { block, code, pageHead, sentence, table } from './markdown.ts'

/** Every command with its arguments and own options; the map has the rest. */
export async function commandsPage(): Promise<string> {
  const map = await wholeMap()
  const groups = NOUN_GROUPS.map(({ title, nouns }) => {
    const own = nouns.flatMap(({ name }) => map.commands.find((each) => each.name === name) ?? [])
    return `## ${title.replace(/:$/, '')}\n\n${own.map((noun) => nounText(noun)).join('\n')}`
  })
  return `${pageHead(
    'Commands',
    `Every command of \`svc\`. The mark **writes** means that the command changes something; **asks** means that it asks for
confirmation, in live mode or always, and takes \`--yes\`. \`svc <command> --help\` has the same with examples.`,
  )}
${block('sh', 'npx svc --map=tree\nnpx svc payments --map=json')}
${groups.join('\n')}
## Options of every command

${optionTable(map)}`
}

function nounText(noun: CommandMap): string {
  const leaves = leavesOf(noun, ['svc'])
  const aliases =
    noun.aliases.length === 0 ? '' : ` Short: ${noun.aliases.map((alias) => code(`svc ${alias}`)).join(', ')}.`
  const rows = leaves.map(({ usage, map }) => [
    code(usage),
    `${sentence(map.summary)}${marks(map)}`,
    map.options.map(({ name }) => code(name)).join(' '),
  ])
  return `### svc ${noun.name}\n\n${sentence(noun.summary)}.${aliases}\n\n${table(['Command', 'Does', 'Options'], rows)}`
}

function leavesOf(map: CommandMap, path: readonly string[]): { usage: string; map: CommandMap }[] {
  const own = [...path, map.name]
  const words = map.arguments.map(({ name, required, variadic }) => {
    const text = `${name}${variadic ? '...' : ''}`
    return required ? `<${text}>` : `[${text}]`
  })
  const below = map.commands.flatMap((child) => leavesOf(child, own))
  return map.commands.length > 0 ? below : [{ usage: [...own, ...words].join(' '), map }]
}

function marks({ writes, asks }: CommandMap): string {
  const texts = [...(writes ? ['writes'] : []), ...(asks ? ['asks'] : [])]
  return texts.length === 0 ? '' : ` (**${texts.join(', ')}**)`
}

function optionTable({ options }: CommandMap): string {
  return table(
    ['Option', 'Meaning'],
    options.map(({ name, short, summary, value, value_name, choices }) => {
      const placeholder = value === 'none' ? '' : ` <${value_name ?? 'value'}>`
      const only = choices === null ? '' : ` (${choices.join(', ')})`
      return [code(`${short === null ? '' : `${short}, `}${name}${placeholder}`), `${sentence(summary)}${only}`]
    }),
  )
}
