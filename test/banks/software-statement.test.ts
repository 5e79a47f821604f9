import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  checkSoftwareStatement,
  datesOf,
  readSoftwareStatement,
  redirectUrisOf,
} from '../../src/banks/software-statement.ts'
import type { SoftwareStatement } from '../../src/banks/software-statement.ts'
import { asFiles, makeSoftwareStatement, newRsaKey } from '../support/software-statement.ts'

const GOOD = await makeSoftwareStatement({ validDays: 20 })
const OTHER = await makeSoftwareStatement()
const ELLIPTIC = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

t.test('a software statement is read from files, with the days on which its parts end', async (t) => {
  const folder = t.testdir(asFiles(GOOD))
  const statement = await readSoftwareStatement(join(folder, 'statement.json'))
  t.same(statement, GOOD)
  const { certificateEndsAt, ssaEndsAt } = datesOf(statement)
  const days = (at: Date) => Math.round((at.getTime() - Date.now()) / 86_400_000)
  t.equal(days(certificateEndsAt), 20)
  t.equal(ssaEndsAt && days(ssaEndsAt), 180)
  t.same(redirectUrisOf(statement), ['https://pay.example/bank/return'])
})

const jwt = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
const CHANGES: readonly [why: string, change: Partial<SoftwareStatement>, field: string][] = [
  ['a key of another certificate', { transport: { ...GOOD.transport, key: OTHER.transport.key } }, 'transport.key'],
  ['a certificate that is none', { transport: { ...GOOD.transport, cert: 'c4n4ry' } }, 'transport.cert'],
  ['a key that is none', { transport: { ...GOOD.transport, key: 'c4n4ry' } }, 'transport.key'],
  ['a signing key that can’t sign PS256', { signing: { kid: 'k', key: ELLIPTIC } }, 'signing.key'],
  ['a signing key that is too short', { signing: { kid: 'k', key: newRsaKey(1_024) } }, 'signing.key'],
  ['an assertion that is none', { ssa: 'c4n4ry' }, 'ssa'],
  ['an assertion of other software', { ssa: jwt({ software_id: 'c4n4ry' }) }, 'ssa'],
  ['an assertion of another organisation', { ssa: jwt({ software_id: GOOD.software_id, org_id: 'c4n4ry' }) }, 'ssa'],
]
for (const [why, change, field] of CHANGES) {
  t.test(`refused by its member, and without its value: ${why}`, async (t) => {
    t.throws(() => checkSoftwareStatement({ ...GOOD, ...change }), {
      name: 'SoftwareStatementError',
      field,
      message: /^(?!.*c4n4ry)/,
    })
    const folder = t.testdir(asFiles({ ...GOOD, ...change }))
    await t.rejects(readSoftwareStatement(join(folder, 'statement.json')), { name: 'SoftwareStatementError', field })
  })
}

t.test('refused: a form that is another, and files that are not there', async (t) => {
  const files = asFiles(GOOD)
  const folder = t.testdir({
    ...files,
    'unknown.json': files['statement.json']?.replace('"ssa"', '"colour":1,"ssa"') ?? '',
    'broken.json': '{',
    'elsewhere.json': files['statement.json']?.replace('signing-key.pem', '-----BEGIN PRIVATE KEY----- c4n4ry') ?? '',
  })
  await t.rejects(readSoftwareStatement(join(folder, 'unknown.json')), {
    message: 'colour: is not a member of a software statement',
  })
  await t.rejects(readSoftwareStatement(join(folder, 'broken.json')), { message: 'file: is not valid JSON' })
  await t.rejects(readSoftwareStatement(join(folder, 'elsewhere.json')), {
    message: 'signing.key: cannot read the file (ENOENT)',
  })
  await t.rejects(readSoftwareStatement(join(folder, 'none.json')), { message: 'file: cannot read the file (ENOENT)' })
})

/** With certificate and key of each in a PKCS#12 file. */
function inPkcs12(change: (form: Record<string, Record<string, unknown>>) => object = (form) => form) {
  const { ssa: _, ...form } = GOOD
  const file = { pkcs12: 'keys.p12', passphrase_file: 'passphrase.txt' }
  const files = { ...form, ssa: 'ssa.jwt', transport: file, signing: { kid: 'k-1', ...file } }
  return t.testdir({
    'statement.json': JSON.stringify(change(structuredClone(files) as never)),
    'ssa.jwt': GOOD.ssa,
    'keys.p12': readFileSync(join(import.meta.dirname, '../support/pkcs12/aes.p12')),
    'passphrase.txt': 'hunter-2\n',
    'wrong.txt': 'c4n4ry',
  })
}

t.test('certificates and keys are read from PKCS#12 files', async (t) => {
  const { transport, signing } = await readSoftwareStatement(join(inPkcs12(), 'statement.json'))
  t.match(transport, { cert: /^-----BEGIN CERTIFICATE/, key: /^-----BEGIN PRIVATE KEY/ })
  t.same(signing, { kid: 'k-1', key: transport.key })
})

t.test('refused: PKCS#12 files that can not be used, by their member', async (t) => {
  const refused = async (change: Parameters<typeof inPkcs12>[0], message: string): Promise<void> => {
    const file = join(inPkcs12(change), 'statement.json')
    await t.rejects(readSoftwareStatement(file), { name: 'SoftwareStatementError', message })
  }
  const withTransport = (transport: object) => (form: object) => ({ ...form, transport })
  const wrong = withTransport({ pkcs12: 'keys.p12', passphrase_file: 'wrong.txt' })
  await refused(wrong, 'transport.pkcs12: the passphrase is wrong')
  await refused(withTransport({ pkcs12: 'keys.p12' }), 'transport.pkcs12: the passphrase is wrong')
  await refused(
    withTransport({ pkcs12: 'ssa.jwt' }),
    'transport.pkcs12: is not a PKCS#12 file with a certificate and its key',
  )
  await refused(withTransport({ pkcs12: 'none.p12' }), 'transport.pkcs12: cannot read the file (ENOENT)')
  await refused(
    withTransport({ pkcs12: 'keys.p12', passphrase_file: 'hunter-2' }),
    'transport.passphrase_file: cannot read the file (ENOENT)',
  )
  await refused(
    withTransport({ pkcs12: 'keys.p12', cert: 'ssa.jwt' }),
    'transport.pkcs12: stands in place of cert and key',
  )
})
