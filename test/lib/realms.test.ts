import t from 'tap'
import { clientIdsOf, credentialIdOf, isSlug, issuerOf, realmOfClientId, slugOf } from '../../src/lib/realms.ts'

const SLUGS: [name: string, slug: string | undefined][] = [
  ['Acme Ltd', 'acme-ltd'],
  ['  --Acme--  Ltd. ', 'acme-ltd'],
  ['Société Générale', 'societe-generale'],
  ['cafe\u0301', 'cafe'],
  ['ＡＣＭＥ ①', 'acme-1'],
  ['ACME株式会社', 'acme'],
  ['Øresund Handel', 'resund-handel'],
  ['24/7', '24-7'],
  ['x'.repeat(41), 'x'.repeat(40)],
  [`${'x'.repeat(39)} y`, 'x'.repeat(39)],
  ['ab', undefined],
  ['', undefined],
  ['株式会社', undefined],
  ['🙂🙂🙂', undefined],
  ['Аcme', undefined],
  ['pаypаl Ltd', undefined],
  ['Αlpha', undefined],
  ['Ac\u200Bme', undefined],
  ['Ac\u00ADme', undefined],
  ['Acme\u202Edtl', undefined],
  ['Acme\nLtd', undefined],
]

t.test(
  'a slug is built from the usable characters of a name, never from a name that could pass for another',
  async (t) => {
    for (const [name, slug] of SLUGS) t.equal(slugOf(name), slug, name)
    for (const [, slug] of SLUGS) if (slug !== undefined) t.ok(isSlug(slug), slug)
  },
)

t.test('a client id says its realm, and those of two realms are never alike', async (t) => {
  const slugs = ['acme', 'acme-portal', 'acme-key', 'acme-server', 'acme-cli-cli']
  const ids = slugs.flatMap((slug) => [...Object.values(clientIdsOf(slug)), credentialIdOf(slug, 'abcd1234')])
  t.equal(new Set(ids).size, ids.length)
  for (const slug of slugs) {
    for (const id of [...Object.values(clientIdsOf(slug)), credentialIdOf(slug, 'abcd1234')]) {
      t.equal(realmOfClientId(id), slug, id)
    }
  }
  for (const id of ['acme', '-portal', 'Acme-portal', 'acme-key-abc', 'acme-portal '])
    t.equal(realmOfClientId(id), undefined)
  t.equal(issuerOf('https://id.example', 'acme'), 'https://id.example/realms/acme')
})
