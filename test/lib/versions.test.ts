import t from 'tap'
import { isInUpgradeWindow, isNewerVersion } from '../../src/lib/versions.ts'

const ORDER = [
  '0.1.0',
  '0.9.0',
  '0.10.0',
  '1.0.0-rc.1',
  '1.0.0-rc.2',
  '1.0.0-rc.10',
  '1.0.0',
  '1.0.1',
  '1.2.0',
  '2.0.0',
]

t.test('versions are compared by their numbers, and a pre-release comes before its release', (t) => {
  const newer = ORDER.map((version) => ORDER.filter((other) => isNewerVersion(version, other)))
  t.same(
    newer,
    ORDER.map((_version, index) => ORDER.slice(0, index)),
  )
  t.notOk(isNewerVersion('1.0.0+build', '1.0.0'))
  t.end()
})

t.test('a version runs on the databases of its own minor release and of the next', (t) => {
  const databases = ORDER.filter((newer) => isInUpgradeWindow('0.9.3', newer))
  t.same(databases, ['0.1.0', '0.9.0', '0.10.0'])
  t.notOk(isInUpgradeWindow('1.2.0', '1.4.0'))
  t.notOk(isInUpgradeWindow('1.9.0', '2.0.0'), 'a new major release needs a stop')
  t.end()
})
