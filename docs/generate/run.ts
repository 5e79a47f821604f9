import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'
import { checkoutPicture } from './checkout-picture.ts'
import { referencePages } from './pages.ts'

/* Writes docs/reference and the picture of the checkout from the code: `npm run docs`. */
const folder = join(packageRoot(), 'docs', 'reference')
mkdirSync(folder, { recursive: true })
for (const [name, text] of await referencePages()) writeFileSync(join(folder, name), text)
writeFileSync(join(packageRoot(), 'docs', 'images', 'checkout.svg'), checkoutPicture())
process.stdout.write(`Wrote ${folder}\n`)
