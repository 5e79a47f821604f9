import type { Answer, CallOptions, TestMerchant, TestService } from './app.ts'

/** An operator without a provider: any name is accepted, as OWNER. */
export const OPERATOR = { 'x-platform-user': 'olga' }

/** Raises a dispute as the payment's merchant. */
export function raise(
  service: TestService,
  merchant: TestMerchant,
  paymentId: string,
  body: unknown = { reason: 'OTHER' },
): Promise<Answer> {
  return service.call('POST', `/api/v1/payments/${paymentId}/dispute`, { merchant, body })
}

export function raiseAsPayer(
  service: TestService,
  paymentId: string,
  body: unknown = { reason: 'ITEM_NOT_RECEIVED', payer_statement: 'It never came.' },
): Promise<Answer> {
  return service.call('POST', `/api/v1/sandbox/payments/${paymentId}/dispute`, { headers: OPERATOR, body })
}

export function raiseAsPlatform(
  service: TestService,
  paymentId: string,
  body: unknown = { reason: 'UNAUTHORISED', statement: 'The bank asks.' },
): Promise<Answer> {
  return service.call('POST', `/api/v1/admin/payments/${paymentId}/dispute`, { headers: OPERATOR, body })
}

export function submitEvidence(
  service: TestService,
  merchant: TestMerchant,
  id: string,
  text = 'The parcel was signed for.',
): Promise<Answer> {
  return service.call('PUT', `/api/v1/portal/disputes/${id}`, { merchant, body: { merchant_evidence: text } })
}

export function accept(
  service: TestService,
  merchant: TestMerchant,
  id: string,
  options: Pick<CallOptions, 'body'> = {},
): Promise<Answer> {
  return service.call('POST', `/api/v1/portal/disputes/${id}/accept`, { merchant, ...options })
}

export function escalate(
  service: TestService,
  id: string,
  body: unknown = { reason: 'beyond my limit', assignee: 'olivia' },
): Promise<Answer> {
  return service.call('PUT', `/api/v1/admin/disputes/${id}/escalate`, { headers: OPERATOR, body })
}

export function resolve(service: TestService, id: string, changes: Record<string, unknown> = {}): Promise<Answer> {
  return service.call('PUT', `/api/v1/admin/disputes/${id}/resolve`, {
    headers: OPERATOR,
    body: { status: 'RESOLVED_PAYER_FAVOUR', resolution_note: 'No proof of delivery.', ...changes },
  })
}

/** Ends the time for evidence, as if it had passed. */
export async function endEvidenceTime({ owner }: Pick<TestService, 'owner'>, id: string): Promise<void> {
  await owner.query(`update disputes set evidence_due_at = now() - interval '1 second' where id = $1`, [id])
}

export async function statusOf({ owner }: Pick<TestService, 'owner'>, id: string): Promise<string | undefined> {
  const { rows } = await owner.query<{ status: string }>('select status::text as status from disputes where id = $1', [
    id,
  ])
  return rows[0]?.status
}

/** The events of a dispute, one line each. */
export async function storyOf({ owner }: Pick<TestService, 'owner'>, id: string): Promise<string[]> {
  const { rows } = await owner.query<{ line: string }>(
    `select event || ': ' || coalesce(previous_status::text, '-') || ' > ' || new_status || ' by ' || changed_by as line
     from dispute_events where dispute_id = $1 order by ordinal`,
    [id],
  )
  return rows.map(({ line }) => line)
}
