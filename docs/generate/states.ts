import { loadMachines } from '../../cli/service/states.ts'
import { block, code, pageHead, table } from './markdown.ts'
import { toMermaid } from '../../src/lib/machine.ts'
import type { Transition } from '../../src/lib/machine.ts'

export async function statesPage(): Promise<string> {
  const machines = await loadMachines()
  const sections = machines.map(
    ({ title, rows }) => `## ${title}\n\n${block('mermaid', toMermaid(title, rows))}\n${transitions(rows)}`,
  )
  return `${pageHead(
    'States',
    'Every status in the service moves by one of these tables. The code reads the same rows; the database rejects other moves.',
  )}
${block('sh', 'npx svc states payments\nnpx svc states --mermaid')}
${sections.join('\n')}`
}

function transitions(rows: readonly Transition<string>[]): string {
  const hasActor = rows.some((row) => 'actor' in row)
  const hasWebhook = rows.some((row) => 'webhook' in row)
  return table(
    ['From', 'Trigger', 'To', ...(hasActor ? ['Changed by'] : []), ...(hasWebhook ? ['Webhook'] : [])],
    rows.map((row) => [
      row.from === null ? '(new)' : code(row.from),
      row.on,
      code(row.to),
      ...(hasActor ? [textOf(row, 'actor')] : []),
      ...(hasWebhook ? [textOf(row, 'webhook')] : []),
    ]),
  )
}

function textOf(row: object, member: string): string {
  const value: unknown = Object.entries(row).find(([name]) => name === member)?.[1]
  return typeof value === 'string' ? code(value) : '–'
}
