import { NOUN_GROUPS } from '../../cli/base/command-names.ts'
import { leavesOf, partsOf, placeholderOf } from '../../cli/entry/tree/command-data.ts'
import type { CommandData } from '../../cli/entry/tree/command-data.ts'
import { readAll } from '../../cli/entry/tree/command-file.ts'
import { block, code, pageHead, sentence, table } from './markdown.ts'

/** Every command with its arguments and own options; the map has the rest. */
export async function commandsPage(): Promise<string> {
  const program = await readAll()
  const groups = NOUN_GROUPS.map(({ title, nouns, more }) => {
    const own = [...nouns, ...more].flatMap(({ name }) => program.commands.find((each) => each.name === name) ?? [])
    return `## ${title}\n\n${own.map((noun) => nounText(noun)).join('\n')}`
  })
  return `${pageHead(
    'Commands',
    `Every command of \`svc\`. With \`--dry-run\` a command shows what it would change; one with \`--yes\` asks for
confirmation in live mode. \`svc <command> --help\` has the same with examples.`,
  )}
${block('sh', 'npx svc help all\nnpx svc help all --json')}
${groups.join('\n')}
## Options of every command

${optionTable(program)}`
}

function nounText(noun: CommandData): string {
  const rows = leavesOf(noun, ['svc']).map(({ words, leaf }) => [
    code([...words, ...leaf.arguments.map(placeholderOf)].join(' ')),
    sentence(leaf.summary),
    leaf.options

      .map((option) => code(partsOf(option).long))
      .join(' '),
  ])
  return `### svc ${noun.name}\n\n${sentence(noun.summary)}.\n\n${table(['Command', 'Does', 'Options'], rows)}`
}

function optionTable({ options }: CommandData): string {
  return table(
    ['Option', 'Meaning'],
    options.map(({ flags, summary, choices }) => {
      const only = choices === undefined ? '' : ` (${choices.join(', ')})`
      return [code(flags), `${sentence(summary)}${only}`]
    }),
  )
}
