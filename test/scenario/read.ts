import { readScenarios } from '../../cli/scenario/read/read-scenarios.ts'
import type { Case } from '../../cli/scenario/read/read-case.ts'
import type { Vars } from '../../cli/scenario/read/variables.ts'

/** A scenario of these steps, each a line of YAML. */
export function scenarioOf(steps: readonly string[], more = ''): string {
  return `scenario: v1\nname: a case\n${more}steps:\n${steps.map((step) => `  - ${step}\n`).join('')}`
}

/** What is told of a file: the place and the sentence of each mistake. */
export function mistakesOf(text: string, vars: Vars = {}): string[] {
  return readScenarios({ file: 'x.yaml', text, vars }).mistakes.map(
    ({ place, message }) => `${place.line}:${place.column} ${message}`,
  )
}

export function casesOf(text: string, vars: Vars = {}): Case[] {
  const { cases, mistakes } = readScenarios({ file: 'x.yaml', text, vars })
  if (mistakes.length > 0) throw new Error(mistakes.map(({ message }) => message).join('; '))
  return cases
}

export const PAY = 'pay: { as: p1, amount: "5.00", currency: GBP }'
