import type { App } from '../app.ts'
import { parseScenario } from '../banks/scenarios.ts'
import { invalidField } from '../lib/errors.ts'

/**
 * Scenarios exist in the sandbox alone, and only those of the list do.
 * @throws {DomainError} VALIDATION_FAILED
 */
export function checkScenario({ config }: Pick<App, 'config'>, { scenario }: { scenario?: string | undefined }): void {
  if (scenario === undefined) return
  if (config.mode !== 'sandbox') {
    throw invalidField('scenario', 'SANDBOX_ONLY', 'exists only in the sandbox; leave it out')
  }
  parseScenario(scenario)
}
