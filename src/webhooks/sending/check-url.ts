import { invalidField } from '../../lib/errors.ts'
import { webhookUrlProblem } from '../../lib/webhook-url.ts'
import type { WebhookUrlMode } from '../../lib/webhook-url.ts'

/**
 * Checks an endpoint's address when it is set.
 * @throws {DomainError} VALIDATION_FAILED at `webhook_url`
 */
export function checkWebhookUrl(text: string, mode: WebhookUrlMode): void {
  const problem = webhookUrlProblem(text, mode)
  if (problem) throw invalidField('webhook_url', problem.code, problem.message)
}
