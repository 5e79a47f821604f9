import { getMerchant } from '../../../src/wire/admin.ts'
import type { ListedMerchant } from '../../../src/wire/admin.ts'
import type { OperatorAction } from '../../../src/wire/audit.ts'
import type { InboxItem } from '../../../src/wire/console.ts'
import { listRegistrations } from '../../../src/wire/registration.ts'
import type { Registration } from '../../../src/wire/registration.ts'
import { CliError } from '../../base/errors.ts'
import { shortTime } from '../../base/text.ts'
import { call } from '../../client/call.ts'
import { heading, keyText, line, pairs } from '../lines.ts'
import type { Line, Pair } from '../lines.ts'
import { ageOf } from '../../base/ages.ts'
import type { Layout, Reading } from '../screen.ts'

/** A merchant with what its registration still needs, or a registration that has made no merchant. */
export type MerchantRow = {
  id: string
  merchant: ListedMerchant | null
  registration: Registration | null
  dead: number
}

export type WholeMerchant = { row: MerchantRow; actions: OperatorAction[] }

const OF_REGISTRATION = 'registration/'

export function registrationId({
  merchant_id: id,
  realm_slug: slug,
}: Pick<InboxItem, 'merchant_id' | 'realm_slug'>): string {
  return id ?? `${OF_REGISTRATION}${slug ?? ''}`
}

export function rowOf(
  merchant: ListedMerchant | null,
  { registration, dead }: { registration: Registration | null; dead: number },
): MerchantRow {
  return { id: merchant?.id ?? `${OF_REGISTRATION}${registration?.slug ?? ''}`, merchant, registration, dead }
}

/** @throws {CliError} where there is no such merchant, or its registration needs no hand any more */
export async function readWhole({ client, arg: id }: Reading): Promise<WholeMerchant> {
  const { body: stuck } = await call(client, listRegistrations, {})
  const registration =
    stuck.data.find(({ slug, merchant_id: made }) => made === id || `${OF_REGISTRATION}${slug}` === id) ?? null
  if (id.startsWith(OF_REGISTRATION)) {
    if (registration !== null) return { row: rowOf(null, { registration, dead: 0 }), actions: [] }
    throw new CliError('REGISTRATION_DONE', 'this registration is complete')
  }
  const { actions, ...merchant } = (await call(client, getMerchant, { params: { id } })).body
  return { row: rowOf(merchant, { registration, dead: 0 }), actions }
}

/** What a registration still needs, above its merchant where it has made one. */
export function registrationLines({ row: { merchant, registration } }: { row: MerchantRow }, layout: Layout): Line[] {
  if (registration === null) return []
  const needs = registration.problems.map((problem) => line(`  ${problem}`, 'warn'))
  return [
    ...pairs(registrationPairs(registration, merchant === null, layout), layout.width),
    ...(needs.length === 0 ? [] : [...heading(`Incomplete${keyText(layout.keys, 'r', 'repairs it')}`), ...needs]),
  ]
}

function registrationPairs(registration: Registration, isAlone: boolean, { now }: Layout): Pair[] {
  const { status, invited_at: invitedAt, created_at: begun } = registration
  return [
    ['Registration', status, status === 'COMPLETE' ? 'good' : 'bad'],
    ['Failed because', registration.failure ?? '', 'bad'],
    ['Invited', invitedAt === null ? 'not yet' : shortTime(invitedAt)],
    // A merchant says the rest of itself.
    ...(isAlone
      ? ([
          ['Realm', registration.slug],
          ['Name', registration.trading_name],
          ['Legal name', registration.company_name],
          ['Administrator', registration.admin_email],
          ['Begun', `${shortTime(begun)} (${ageOf(begun, now)} ago)`],
        ] satisfies Pair[])
      : []),
  ]
}
