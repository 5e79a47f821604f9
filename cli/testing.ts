import { openService } from './scenario/testing/service.ts'
import type { ServiceOptions } from './scenario/testing/service.ts'
import { beginScenario } from './scenario/testing/test-scenario.ts'
import type { TestScenario, TestScenarioOptions } from './scenario/testing/test-scenario.ts'

export { ScenarioError } from './scenario/testing/scenario-error.ts'
export type { ErrorResponse, TestScenario, TestScenarioOptions } from './scenario/testing/test-scenario.ts'
export type { Verbs } from './scenario/testing/verbs.ts'
export type * from './scenario/testing/answers.ts'

/** Which service, and the seed of its random values; see the fields. */
export type SandboxOptions = ServiceOptions

/** A service to run scenarios against. */
export type Sandbox = {
  readonly apiUrl: string
  /** Whether the service was started for this program alone. */
  readonly isEphemeral: boolean
  /** A merchant with a webhook receiver; scenarios never meet, so that they may run at the same time. */
  scenario(options?: TestScenarioOptions): Promise<TestScenario>
  /** Closes the scenarios that are still open, and a service that was started for them. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens the sandbox: the service that runs here, or one of its own. With a seed, ids and keys follow from it, from the
 * names of the scenarios (or the order in which they begin), and from the order of their verbs.
 */
export async function sandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { client, isEphemeral, close: closeService } = await openService(options)
  const scenarios = new Set<Promise<TestScenario>>()
  let closing: Promise<void> | undefined
  const closeAll = async (): Promise<void> => {
    const begun = await Promise.allSettled(scenarios)
    await Promise.allSettled(begun.map((each) => (each.status === 'fulfilled' ? each.value.close() : undefined)))
    await closeService()
  }
  const close = (): Promise<void> => (closing ??= closeAll())
  return {
    apiUrl: client.apiUrl,
    isEphemeral,
    scenario(setup = {}) {
      const scenario = beginScenario(client, setup, { key: `scenario ${scenarios.size + 1}`, seed: options.seed })
      scenarios.add(scenario)
      return scenario
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
