import { chmodSync } from 'node:fs'
import t from 'tap'
import type { Test } from 'tap'
import { restoreDump } from '../../src/db/restore-dump.ts'

const END = '-- PostgreSQL database dump complete'

/** Restores with a psql that prints this and ends with 0, as it does after errors. */
async function restore(t: Test, ...printed: string[]): Promise<void> {
  const folder = t.testdir({
    psql: `#!/bin/sh\ncat >&2 <<'END'\n${printed.join('\n')}\nEND\n`,
    'svc.sql': `-- PostgreSQL database dump\n${END}\n`,
  })
  chmodSync(`${folder}/psql`, 0o755)
  const input = { path: `${folder}/svc.sql`, format: 'plain', databaseUrl: 'postgres://127.0.0.1/scratch' } as const
  await restoreDump({ ...input, env: { PATH: `${folder}:${process.env['PATH']}` } }, new AbortController().signal)
}

const unlessShell = { skip: process.platform === 'win32' && 'no shell' }

t.test('an error of the server is one in every language', unlessShell, async (t) => {
  for (const line of [
    'psql:/dumps/svc.sql:12: ERROR:  42P01: relation "merchants" does not exist',
    'psql:/dumps/svc.sql:12: FEHLER:  42P01: Relation »merchants« existiert nicht',
    'psql:/a:1: b/svc.sql:7: ERREUR:  23505: la valeur dupliquée rompt la contrainte unique',
    'psql:/dumps/svc.sql:12: エラー:  22012: 0 による除算が行われました',
    'psql:/dumps/svc.sql:12: error: connection to server was lost',
  ])
    await t.rejects(restore(t, line), { name: 'DumpError', message: line })
})

t.test('a role that is missing here is none, and neither are warnings', unlessShell, async (t) => {
  await t.resolves(
    restore(
      t,
      'psql:/dumps/svc.sql:12: ERROR:  42704: role "svc_owner" does not exist',
      'LOCATION:  get_role_oid, acl.c:5554',
      'psql:/dumps/svc.sql:13: FEHLER:  42704: Rolle »svc_runtime« existiert nicht',
      'LOCATION:  get_rolespec_oid, acl.c:5601',
      'psql:/dumps/svc.sql:14: WARNUNG:  01000: Kollationen',
      'LOCATION:  CheckMyDatabase, postinit.c:440',
    ),
  )
})

t.test('another object that is missing is an error, beside roles too', unlessShell, async (t) => {
  const type = 'psql:/dumps/svc.sql:13: FEHLER:  42704: Typ »ledger_account« existiert nicht'
  const role = 'psql:/dumps/svc.sql:12: FEHLER:  42704: Rolle »svc_owner« existiert nicht'
  const [ofType, ofRole] = ['LOCATION:  typenameType, parse_type.c:270', 'LOCATION:  get_role_oid, acl.c:5554']
  await t.rejects(restore(t, role, ofRole, type, ofType), { message: type })
  await t.rejects(restore(t, type, ofType, role, ofRole), { message: type })
})
