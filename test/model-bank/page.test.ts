import t from 'tap'
import { FAULT_NAMES } from '../../src/model-bank/faults.ts'
import { QUIRK_NAMES } from '../../src/model-bank/quirks.ts'
import { readPage } from '../support/markdown.ts'

t.test('the page of the model bank has each fault and each quirk, in the words of the code', async (t) => {
  const { text } = readPage('docs/operators/model-bank.md')
  for (const [name, meaning] of Object.entries({ ...FAULT_NAMES, ...QUIRK_NAMES })) {
    t.ok(text.includes(`| \`${name}\` | ${meaning} |`), name)
  }
})
