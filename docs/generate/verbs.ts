import { VERB_GROUPS } from '../../cli/scenario/language.ts'
import { SUBJECTS } from '../../cli/scenario/verbs/looking.ts'
import { STRUCTURES } from '../../cli/scenario/language/structure.ts'
import type { VerbTable } from '../../cli/scenario/language/parts.ts'
import type { Subject } from '../../cli/scenario/verbs/verb.ts'
import { block, code, pageHead, table } from './markdown.ts'

const GROUPS = { ...VERB_GROUPS, structures: STRUCTURES } as const
const TITLES: Readonly<Record<keyof typeof GROUPS, string>> = {
  payments: 'Payments',
  webhooks: 'Webhooks',
  disputes: 'Disputes',
  payers: 'Payers in the hub',
  customers: "The bank's customers",
  merchants: 'Merchants and operators',
  other: 'Time, requests and commands',
  structures: 'Around steps',
}

export function verbsPage(): string {
  const groups = Object.entries<VerbTable>(GROUPS).map(([group, verbs]) => {
    const rows = Object.entries(verbs).map(([name, { text, examples }]) => [
      code(name),
      text,
      examples.map(code).join(', '),
    ])
    return `## ${new Map(Object.entries(TITLES)).get(group) ?? group}\n\n${table(['Verb', 'Does', 'Examples'], rows)}`
  })
  const matched = table(
    ['Subject', '`await`', '`expect`'],
    SUBJECTS.map(({ subject, awaits, expects }) => [subject, examplesOf(awaits), examplesOf(expects)]),
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

function examplesOf(forms: Subject['awaits']): string {
  return forms.flatMap(({ examples }) => examples.map(code)).join(', ')
}
