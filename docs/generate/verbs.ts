import { STRUCTURES } from '../../cli/scenario/language/structure.ts'
import { VERBS } from '../../cli/scenario/language.ts'
import type { Verb } from '../../cli/scenario/language.ts'
import type { Structure } from '../../cli/scenario/language/structure.ts'
import { block, code, pageHead, table } from './markdown.ts'
import { MATCHED, VERB_TEXTS } from '../../cli/scenario/language/verb-texts.ts'
import type { VerbGroup } from '../../cli/scenario/language/verb-texts.ts'

const GROUP_TITLES: Readonly<Record<VerbGroup, string>> = {
  payments: 'Payments',
  webhooks: 'Webhooks',
  disputes: 'Disputes',
  payers: 'Payers in the hub',
  customers: "The bank's customers",
  merchants: 'Merchants and operators',
  other: 'Time, requests and commands',
  structures: 'Around steps',
}

const SCHEMAS: Readonly<Record<Verb | Structure, { example: string }>> = { ...VERBS, ...STRUCTURES }

export function verbsPage(): string {
  const names = Object.keys(SCHEMAS).filter((name): name is Verb | Structure => Object.hasOwn(SCHEMAS, name))
  const groups = Object.entries(GROUP_TITLES).map(([group, title]) => {
    const rows = names
      .filter((name) => VERB_TEXTS[name].group === group)
      .map((name) => {
        const { text, examples = [] } = VERB_TEXTS[name]
        return [code(name), text, [...new Set([SCHEMAS[name].example, ...examples])].map(code).join(', ')]
      })
    return `## ${title}\n\n${table(['Verb', 'Does', 'Examples'], rows)}`
  })
  const matched = table(
    ['Subject', '`await`', '`expect`'],
    MATCHED.map(({ subject, awaits, expects }) => [subject, awaits.map(code).join(', '), expects.map(code).join(', ')]),
  )
  return `${pageHead(
    'Scenario verbs',
    `The steps of scenario files. [Scenarios](../scenarios.md) explains how to write and run them. The JSON Schema, which
\`svc sandbox scenarios schema\` prints, has every field; the fields of \`pay\` and others are those of the API.`,
  )}
${block('sh', 'npx svc sandbox scenarios schema > scenario.schema.json')}
${groups.join('\n')}
## What await and expect look at

${matched}`
}
