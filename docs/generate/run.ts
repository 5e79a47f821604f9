import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'
import { referencePages } from './pages.ts'

/* Writes docs/reference from the code: `npm run docs`. */
const folder = join(packageRoot(), 'docs', 'reference')
mkdirSync(folder, { recursive: true })
for (const [name, text] of await referencePages()) writeFileSync(join(folder, name), text)
process.stdout.write(`Wrote ${folder}\n`)
