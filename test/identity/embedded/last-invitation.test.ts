import t from 'tap'
import { recipientHash } from '../../../src/mail/seal-context.ts'
import { testService, until } from '../../support/app.ts'
import type { CallOptions } from '../../support/app.ts'
import { merchantWithPortal } from '../../support/sign-in.ts'

/*
 * Five invitations an hour are mailed to one address, whoever invites (decision 137): those of all merchants together, because
 * anybody can register merchants. Two requests for the last of them run at the same time here.
 */
const env = { SVC_IDENTITY: 'embedded', SVC_RATE_LIMITS: 'true' }
const service = await testService(t, { env })
const [one, two, other] = await Promise.all([1, 2, 3].map(() => merchantWithPortal(service)))
const TEAM = { path: '/api/v1/portal/team', role: 'FINANCE' }
const STAFF = { path: '/api/v1/admin/staff', role: 'SUPPORT', caller: { headers: await service.operator('OWNER') } }

type Inviter = { path: string; role: string; caller: CallOptions }

const invite = ({ path, role, caller }: Inviter, email: string) =>
  service.call('POST', path, { ...caller, body: { email, role } })

const teamOf = (merchant: CallOptions['merchant']): Inviter => ({
  ...TEAM,
  caller: merchant === undefined ? {} : { merchant },
})

/** Runs work while nobody can be added, until so many wait to be; then they all go on. */
async function atOnce<T>(count: number, work: () => Promise<T>): Promise<T> {
  await service.owner.query('begin; lock table team_members, platform_users in share mode')
  const working = work()
  try {
    await until(async () => {
      const { rows } = await service.owner.query(
        `select from pg_locks
        where not granted and database = (select oid from pg_database where datname = current_database())
          and (relation in ('team_members'::regclass, 'platform_users'::regclass) or locktype = 'advisory')`,
      )
      return rows.length === count
    })
  } finally {
    await service.owner.query('commit')
  }
  return working
}

async function countOf(email: string): Promise<Record<string, number>> {
  const { rows } = await service.owner.query(
    `select
      (select count(*) from team_members where email = $1)::int + (select count(*) from platform_users where email = $1)::int as people,
      (select count(*) from operator_actions where after ->> 'email' = $1)::int as recorded,
      (select count(*) from mails where recipient_hash = $2)::int as mails`,
    [email, await recipientHash(service.app, email)],
  )
  return rows[0]
}

for (const [name, first, second] of [
  ['two merchants', teamOf(one), teamOf(two)],
  ['one merchant, twice', teamOf(one), teamOf(one)],
  ['a merchant and the platform', teamOf(one), STAFF],
] as const) {
  t.test(`of two invitations at once for the last mail of the hour, one adds its person: ${name}`, async (t) => {
    const email = `${name.replaceAll(/\W+/g, '-')}@example.com`
    for (let count = 0; count < 4; count += 1) t.equal((await invite(teamOf(other), email)).status, 201)
    const before = await countOf(email)
    const answers = await atOnce(2, () => Promise.all([invite(first, email), invite(second, email)]))
    t.same(answers.map(({ status }) => status).toSorted(), [201, 429])
    const after = await countOf(email)
    t.same(after, { people: Number(before['people']) + 1, recorded: Number(before['recorded']) + 1, mails: 5 })
    t.match(await invite(first, email), { status: 429, body: { code: 'RATE_LIMITED' } }, 'and no merchant has a sixth')
  })
}
