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
import type { PaymentRow } from './payment-lines.ts'

/** Without a choice of one's own it is this one. */
const FIRST = 'happy-path'

/** Plays a scenario that comes with svc, with its steps as they come; closing that stops it. */
export const scenarioKey: ScreenKey<PaymentRow> = {
  key: 's',
  label: 'scenario',
  writes: true,
  permission: 'operate sandbox',
  needs: 'nothing',
  command: (_row, { scenario = '...' }) => `svc run ${scenario}`,
  ask: () => ({
    what: 'play a scenario',
    about: ['Each case makes a merchant and a webhook receiver of its own.'],
    fields: [{ name: 'scenario', label: 'Which', kind: 'choice', words: names(), notes: stories() }],
  }),
  run: (_row, { scenario = FIRST }, tools) => play(scenario, tools),
}

function names(): string[] {
  const all = listBuiltIns().map(({ name }) => name)
  return [...all.filter((name) => name === FIRST), ...all.filter((name) => name !== FIRST)]
}

function stories(): Readonly<Record<string, string>> {
  return Object.fromEntries(listBuiltIns().map(({ name, title }) => [name, title]))
}

/** How long one case may take, as with `svc run`. */
const CASE_TIMEOUT_MS = 60_000

/** @throws {CliError} SCENARIO_FAILED, exit code 3, and whatever keeps it from being played */
async function play(name: string, { client, watch }: Tools): Promise<string> {
  const { cases } = loadScenarios([name], { cwd: process.cwd(), vars: {} })
  const shown = watch(`Scenario ${name}`)
  const done: string[] = []
  const results: CaseResult[] = []
  try {
    for (const [index, scenario] of cases.entries()) {
      const steps: StepResult[] = []
      const title = cases.length === 1 ? scenario.name : `${index + 1} of ${cases.length}: ${scenario.name}`
      const write = (): void => shown.write([...done, ...caseLines(title, scenario, steps), '', 'Esc stops it.'])
      write()
      const result = await playCase(client, scenario, {
        timeoutMs: CASE_TIMEOUT_MS,
        signal: shown.signal,
        tellStep(step) {
          steps.push(step)
          write()
        },
        rerun: () => `svc run ${name} --only ${scenario.number}`,
      })
      if (shown.signal.aborted) return `stopped ${name}`
      results.push(result)
      done.push(...caseLines(title, scenario, result.steps, true), ...endLines(result), '')
      shown.write(done)
    }
  } catch (error) {
    if (shown.signal.aborted) return `stopped ${name}`
    shown.end([...done, error instanceof Error ? error.message : String(error)])
    throw error
  }
  const summary = summaryOf(results)
  shown.end([...done, summary])
  if (results.every(({ failure }) => failure === undefined)) return `played ${name}: ${summary}`
  throw new CliError('SCENARIO_FAILED', `${name}: ${summary}`, {
    exit: EXIT.assertion,
    hint: `svc run ${name}`,
  })
}

/** The steps of a case: those that have ended with what became of them, the next one, and how many are after it. */
export function caseLines(
  title: string,
  { steps }: { steps: readonly Pick<Case['steps'][number], 'number' | 'label' | 'title'>[] },
  ended: readonly StepResult[],
  isOver = false,
): string[] {
  const results = new Map(ended.map((step) => [step.number, step]))
  const left = steps.filter(({ number }) => !results.has(number))
  // What goes on stands last, where it is seen on a small screen as well.
  const shown = isOver ? steps : [...steps.filter(({ number }) => results.has(number)), ...left.slice(0, 1)]
  return [
    title,
    ...shown.map(({ number, label, title: what }) => {
      const result = results.get(number)
      const mark = result === undefined ? (isOver ? '-' : '...') : MARKS[result.status]
      const took = result === undefined || result.status === 'skipped' ? '' : ` (${Math.round(result.durationMs)} ms)`
      return `${mark.padEnd(7)}${label} ${what}${took}`
    }),
    ...(isOver || left.length < 2 ? [] : [`Then ${left.length - 1} more.`]),
  ]
}

const MARKS = { passed: 'ok', failed: 'FAILED', skipped: '-' } as const

function endLines({ failure, skipped }: CaseResult): string[] {
  if (skipped !== undefined) return [`Not played: ${skipped}`]
  if (failure === undefined) return []
  return ['', ...storyOf(failure, (_style, text) => text)]
}

function summaryOf(results: readonly CaseResult[]): string {
  const skipped = results.filter((result) => result.skipped !== undefined).length
  const failed = results.filter(({ failure }) => failure !== undefined).length
  const passed = results.length - skipped - failed
  return [
    ...(failed === 0 ? [] : [`${failed} failed`]),
    `${passed} passed`,
    ...(skipped === 0 ? [] : [`${skipped} not played`]),
  ].join(', ')
}
