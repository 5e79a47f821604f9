import { parse, stringify } from 'yaml'
import { EventType } from '../../src/wire/webhook-events.ts'
import { listBuiltIns, readScenarioFile } from './read/find-files.ts'

export type Trigger = {
  event: EventType
  /** What happens, in a sentence. */
  summary: string
  /** What can be set, with what it is where nothing is said. */
  vars: Readonly<Record<string, string>>
  /** The steps as a scenario, to read, to edit and to play. */
  text: string
}

/**
 * The events that can be triggered, in the order of the contract: those with a scenario in examples/triggers. Payouts have
 * none, as they follow from a settlement, which closes only as time passes for the whole merchant.
 */
export function listTriggers(): Trigger[] {
  const files = listBuiltIns('triggers')
  return EventType.options.flatMap((event) => {
    const file = files.find(({ name }) => name === event)
    if (file === undefined) return []
    const text = readScenarioFile(file)
    const { vars } = parse(text) as Pick<Trigger, 'vars'>
    return [{ event, summary: file.title.replace(/^\S+: (.*)\.$/, '$1'), vars, text }]
  })
}

/** The text of a trigger with other values: texts in quotes, as amounts would be numbers otherwise. */
export function withValues(text: string, vars: Readonly<Record<string, string>>): string {
  return Object.entries(vars).reduce((before, [name, value]) => {
    const written = stringify(value, { defaultStringType: 'QUOTE_DOUBLE', lineWidth: 0 }).trim()
    return before.replace(new RegExp(`^  ${name}: .*$`, 'm'), () => `  ${name}: ${written}`)
  }, text)
}
