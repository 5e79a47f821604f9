import t from 'tap'
import { readMigrationFiles } from '../../src/db/migration-files.ts'

const create = (name: string): string =>
  `create or replace function ${name}() returns int4 language sql as $$ select 1 $$;\n`

t.test('files are in the order of their numbers and needs; other files are ignored', async (t) => {
  const folder = t.testdir({
    '0001_room.sql': 'create table room (id int4);',
    '0002_meter.sql': '-- A meter.\n-- needs: functions/two\ncreate table meter (id int4);',
    '0002_meter.sql~': 'an editor left this',
    'released.json': '{}',
    functions: {
      'one.sql': `-- One.\n-- needs: functions/two, functions/three\n${create('one')}-- needs: functions/nothing\n`,
      'two.sql': `-- needs: 0001_room\n-- needs: functions/three\n${create('two')}`,
      'three.sql': create('three'),
      'four.sql': `-- needs: 0002_meter\n${create('four')}`,
      'README.md': 'not a function',
    },
  })
  const files = await readMigrationFiles(folder)
  t.same(
    files.map(({ name }) => name),
    ['0001_room', 'functions/three', 'functions/two', '0002_meter', 'functions/four', 'functions/one'],
  )
  t.match(files[0], { kind: 'migration', needs: [], sha256: /^[0-9a-f]{64}$/ })
  t.match(files.at(-1), { kind: 'function', needs: ['functions/two', 'functions/three'] })
})

t.test('a dependency on a missing file is rejected with both names', async (t) => {
  const folder = t.testdir({
    '0001_room.sql': 'select 1;',
    functions: { 'one.sql': `-- needs: functions/two\n${create('one')}` },
  })
  await t.rejects(readMigrationFiles(folder), {
    name: 'MigrationError',
    message:
      /^migrations\/functions\/one\.sql needs functions\/two, but there is no migrations\/functions\/two\.sql\. Correct/,
  })
})

t.test('a cycle of dependencies is rejected with its files', async (t) => {
  const functions = {
    'one.sql': `-- needs: functions/two\n${create('one')}`,
    'two.sql': `-- needs: functions/three\n${create('two')}`,
    'three.sql': `-- needs: functions/two\n${create('three')}`,
  }
  await t.rejects(readMigrationFiles(t.testdir({ functions })), {
    name: 'MigrationError',
    message: /circle: functions\/two needs functions\/three needs functions\/two\. /,
  })
  const files = {
    '0001_room.sql': `-- needs: functions/one\nselect 1;`,
    '0002_meter.sql': 'select 1;',
    functions: { 'one.sql': `-- needs: 0002_meter\n${create('one')}` },
  }
  await t.rejects(readMigrationFiles(t.testdir(files)), {
    name: 'MigrationError',
    message: /circle: 0001_room needs functions\/one needs 0002_meter needs 0001_room\. /,
  })
})

const CREATES = /\bcreate\s+(?:or\s+replace\s+)?(?:function|procedure)\s+(?:\w+\.)?(\w+)/gi

/** The names of the functions that a file creates. */
function createdIn(text: string): string[] {
  return [...text.replaceAll(/--.*$/gm, '').matchAll(CREATES)].map(([, name = '']) => name.toLowerCase())
}

t.test('each function is created in the file of its name, and nowhere else', async (t) => {
  const files = await readMigrationFiles()
  t.ok(files.length > 50)
  for (const { name, kind, text } of files) {
    // A trigger that changes without its function has a file of its own.
    const isTrigger = /^\s*create or replace trigger\b/i.test(text.replaceAll(/--.*$/gm, ''))
    t.same(createdIn(text), kind === 'function' && !isTrigger ? [name.replace('functions/', '')] : [], name)
    if (kind === 'function')
      t.notMatch(text, /^create (function|trigger|procedure)\b/im, `${name} can be applied again`)
  }
})
