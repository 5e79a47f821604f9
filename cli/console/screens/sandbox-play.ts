import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { playCase } from '../../scenario/play/play.ts'
import type { CaseResult } from '../../scenario/play/play.ts'
import type { StepResult } from '../../scenario/play/play-plan.ts'
import { listBuiltIns } from '../../scenario/read/find-files.ts'
import { loadScenarios } from '../../scenario/read/load.ts'
import type { Case } from '../../scenario/read/read-case.ts'
import { storyOf } from '../../scenario/reporters/story.ts'
import type { ScreenKey, Tools } from '../screen.ts'
import type { PaymentRow } from './payment-detail.ts'

const FIRST = 'happy-path'

/** Runs a scenario that comes with svc, with its steps as they come; closing that stops it. */
export const scenarioKey: ScreenKey<PaymentRow> = {
  key: 's',
  label: 'scenario',
  writes: true,
  permission: 'operate sandbox',
  needs: 'nothing',
  command: (_row, { scenario = '...' }) => `svc run ${scenario}`,
  ask: () => {
    const notes = Object.fromEntries(listBuiltIns().map(({ name, title }) => [name, title]))
    return {
      what: 'run a scenario',
      about: ['Each case makes a merchant and a webhook receiver of its own.'],
      fields: [{ name: 'scenario', label: 'Which', kind: 'choice', words: Object.keys(notes), notes, initial: FIRST }],
    }
  },
  run: (_row, { scenario = FIRST }, tools) => play(scenario, tools),
}

const CASE_TIMEOUT_MS = 60_000

/** @throws {CliError} SCENARIO_FAILED, exit code 3, and whatever keeps it from being played */
async function play(name: string, { client, watch }: Tools): Promise<string> {
  const { cases } = loadScenarios([name], { cwd: process.cwd(), vars: {} })
  const done: string[] = []
  const results: CaseResult[] = []
  const failed = (): number => results.filter(({ failure }) => failure !== undefined).length
  const summary = (): string => {
    const passed = results.filter(({ failure, skipped }) => failure === undefined && skipped === undefined).length
    return failed() === 0 ? `${passed} passed` : `${failed()} failed, ${passed} passed`
  }
  const isOver = await watch(`Scenario ${name}`, async ({ signal, write }) => {
    for (const scenario of cases) {
      const steps: StepResult[] = []
      write([...done, ...caseLines(scenario, steps)])
      const result = await playCase(client, scenario, {
        timeoutMs: CASE_TIMEOUT_MS,
        signal,
        tellStep(step) {
          steps.push(step)
          write([...done, ...caseLines(scenario, steps)])
        },
        rerun: () => `svc run ${name} --only ${scenario.number}`,
      })
      if (signal.aborted) break
      results.push(result)
      done.push(...caseLines(scenario, result.steps, true), ...endLines(result), '')
    }
    return [...done, summary()]
  })
  if (!isOver) return `stopped ${name}`
  if (failed() === 0) return `played ${name}: ${summary()}`
  throw new CliError('SCENARIO_FAILED', `${name}: ${summary()}`, { exit: EXIT.assertion, hint: `svc run ${name}` })
}

const MARKS = { passed: 'ok', failed: 'FAILED', skipped: '-' } as const

/** The steps of a case: those that have ended with what became of them, and the one that goes on. */
export function caseLines(
  { name, steps }: { name: string; steps: readonly Pick<Case['steps'][number], 'number' | 'label' | 'title'>[] },
  ended: readonly StepResult[],
  isOver = false,
): string[] {
  const results = new Map(ended.map((step) => [step.number, step]))
  const shown = isOver ? steps : steps.slice(0, ended.length + 1)
  return [
    name,
    ...shown.map(({ number, label, title }) => {
      const result = results.get(number)
      const mark = result === undefined ? (isOver ? '-' : '...') : MARKS[result.status]
      const took = result === undefined || result.status === 'skipped' ? '' : ` (${Math.round(result.durationMs)} ms)`
      return `${mark.padEnd(7)}${label} ${title}${took}`
    }),
  ]
}

function endLines({ failure, skipped }: CaseResult): string[] {
  if (skipped !== undefined) return [`Not played: ${skipped}`]
  return failure === undefined ? [] : ['', ...storyOf(failure, (_style, text) => text)]
}
