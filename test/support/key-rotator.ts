import { rotateKeyRing } from '../../cli/service/up/key-file.ts'

/** Rotates the keys of a state directory over and over, until it is killed. */
const [stateDir = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
for (;;) await rotateKeyRing(stateDir).catch(() => process.exit(3))
