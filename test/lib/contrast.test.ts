import t from 'tap'
import { buttonTextOn, contrastRatio, ratioText } from '../../src/lib/contrast.ts'

t.test('ratios are those of WCAG, whichever colour comes first', async (t) => {
  for (const [one, other, ratio] of [
    ['#000000', '#FFFFFF', '21.0:1'],
    ['#FFFFFF', '#ffffff', '1.0:1'],
    ['#767676', '#FFFFFF', '4.5:1'],
    ['#777777', '#FFFFFF', '4.4:1'],
    ['#FF0000', '#FFFFFF', '3.9:1'],
    ['#0000FF', '#FFFFFF', '8.5:1'],
    ['#0B5FFF', '#FFFFFF', '5.1:1'],
  ] as const) {
    t.equal(ratioText(contrastRatio(one, other)), ratio, `${one} on ${other}`)
    t.equal(contrastRatio(one, other), contrastRatio(other, one))
  }
})

t.test('a ratio that falls short never reads as if it did not', async (t) => {
  t.equal(ratioText(4.4999), '4.4:1')
  t.equal(ratioText(4.5), '4.5:1')
})

t.test('the text of a button can be read on every colour there is', async (t) => {
  for (let colour = 0; colour <= 0xffffff; colour += 4_099) {
    const hex = `#${colour.toString(16).padStart(6, '0')}`
    if (contrastRatio(hex, buttonTextOn(hex)) < 4.5) t.fail(hex)
  }
  t.equal(buttonTextOn('#0B5FFF'), '#FFFFFF')
  t.equal(buttonTextOn('#FFD700'), '#000000')
})
