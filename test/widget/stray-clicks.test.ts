import t from 'tap'
import { openBrowser } from '../support/browser.ts'
import { chooseBank, frameOf, openWidget, openWidgetShop, payAtBank, untilHeading } from '../support/widget-page.ts'
import type { OpenWidget, OpenWidgetOptions } from '../support/widget-page.ts'
import { PHONE } from '../support/widget-screens.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

/** The frame's content once the pause after a new screen is over. */
const CLICKABLE = 'main:not([style*=pointer-events])'

const bankAt = (x: number, y: number): string =>
  `document.elementFromPoint(${x}, ${y})?.closest('.tile, [role=option]')?.innerText ?? ''`

/** Where Continue is, in the page and in the frame. */
async function continueAt({ page, widget }: OpenWidget) {
  const button = widget.getByRole('button', { name: en.continue })
  await button.click({ trial: true })
  const inPage = await button.boundingBox()
  const frame = await page.locator('iframe').boundingBox()
  if (inPage === null || frame === null) throw new Error('Continue has no place')
  const [x, y] = [inPage.x + inPage.width / 4, inPage.y + inPage.height / 2]
  return { x, y, inFrame: [x - frame.x, y - frame.y] as const }
}

/** Holds the time back during which clicks are ignored: it ends with `release()`, however slow the machine is. */
const HELD = `{
  const [start, clear] = [setTimeout, clearTimeout]
  const held = new Map()
  window.setTimeout = (work, ms, ...given) => {
    if (ms !== 400) return start(work, ms, ...given)
    const id = start(() => undefined)
    held.set(id, work)
    return id
  }
  window.clearTimeout = (id) => {
    held.delete(id)
    clear(id)
  }
  window.release = () => {
    for (const work of held.values()) work()
    held.clear()
  }
}`

/** The first screen, which takes clicks. */
async function openHeld(options: OpenWidgetOptions = {}): Promise<OpenWidget> {
  const opened = await openWidget(browser, shop, { ...options, prepare: (page) => page.addInitScript(HELD) })
  await opened.widget.getByRole('button', { name: en.continue }).waitFor()
  await release(opened)
  return opened
}

const release = ({ page }: OpenWidget) => frameOf(page).evaluate('release()')

t.test('the second click of a double click on Continue chooses no bank', async (t) => {
  const opened = await openHeld()
  const { page, widget } = opened
  const { x, y, inFrame } = await continueAt(opened)
  await page.mouse.click(x, y)
  await page.mouse.down({ clickCount: 2 })
  await page.mouse.up({ clickCount: 2 })
  await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  await page.mouse.click(x, y)
  t.ok(await widget.getByRole('heading', { name: en.banksTitle }).isVisible())
  await release(opened)
  t.not(await frameOf(page).evaluate(bankAt(...inFrame)), '', 'a bank is where Continue was')
  t.match(await opened.heard(), [{ eventType: 'SVC_WIDGET_READY' }])
  t.equal((await opened.heard()).length, 1)
  await page.mouse.click(x, y)
  await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
})

t.test('keys and assistive technology need not wait, a click of the mouse that a script sends does', async (t) => {
  const opened = await openHeld()
  const { page, widget } = opened
  await widget.getByRole('button', { name: en.continue }).click()
  await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  const isIgnored = await frameOf(page).evaluate(`{
    const click = new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 })
    !document.querySelector('[role=option]').dispatchEvent(click)
  }`)
  t.equal(isIgnored, true)
  t.ok(await widget.getByRole('heading', { name: en.banksTitle }).isVisible())
  await frameOf(page).evaluate(`document.querySelector('[role=option]').click()`)
  await widget.getByRole('heading', { name: en.qrTitle }).waitFor()
  await widget.getByRole('button', { name: en.scanned }).press('Enter')
  await widget.getByRole('heading', { name: en.processingTitle }).waitFor()
})

t.test('news on the same screen does not block clicks', async (t) => {
  const opened = await openWidget(browser, shop)
  const { page, widget } = opened
  await chooseBank(widget, 'Leisurely Bank')
  const address = await widget.getByLabel(en.linkLabel).inputValue()
  await widget.getByRole('button', { name: en.scanned }).click()
  await widget.getByRole('heading', { name: en.processingTitle }).waitFor()
  const frame = frameOf(page)
  await widget.locator(CLICKABLE).waitFor()
  await frame.evaluate(`window.paused = 0; new MutationObserver(() => {
    paused += document.querySelector('main').style.pointerEvents === 'none' ? 1 : 0
  }).observe(document.querySelector('main'), { attributes: true })`)
  const bank = await opened.context.newPage()
  await bank.goto(address)
  await bank.getByRole('button', { name: /^Approve/ }).click()
  await bank.waitForURL(/\/payments\/return/)
  await untilHeading(opened, en.processingTitle)
  await widget.locator('.progress').getByText('has approved the payment.').waitFor()
  t.equal(await frame.evaluate('paused'), 0)
})

t.test('the second tap of a double tap on a phone chooses nothing either', async (t) => {
  const opened = await openHeld({ context: PHONE })
  const { page, widget } = opened
  const { x, y } = await continueAt(opened)
  await page.touchscreen.tap(x, y)
  await page.touchscreen.tap(x, y)
  await widget.getByRole('heading', { name: en.banksTitle }).waitFor()
  await page.touchscreen.tap(x, y)
  t.ok(await widget.getByRole('heading', { name: en.banksTitle }).isVisible())
  await release(opened)
  t.ok(await widget.getByRole('heading', { name: en.banksTitle }).isVisible())
  t.equal((await opened.heard()).length, 1)
})

/** Counts the new screens, and those during which clicks were not held back. */
const COUNTED = `window.screens = window.open = 0
new MutationObserver((records) => {
  if (!records.some(({ addedNodes }) => [...addedNodes].some((each) => each.className === 'screen'))) return
  screens += 1
  if (document.querySelector('main').style.pointerEvents !== 'none') open += 1
}).observe(document.querySelector('main'), { childList: true })`

t.test('clicks are held back after every change of the screen', async (t) => {
  const opened = await openWidget(browser, shop)
  const { page, widget } = opened
  await widget.getByRole('button', { name: en.continue }).waitFor()
  await frameOf(page).evaluate(COUNTED)
  await chooseBank(widget, 'Empty Purse Bank')
  await payAtBank(opened)
  await untilHeading(opened, en.failedTitle)
  await widget.getByRole('button', { name: en.otherBank }).click()
  await widget.getByRole('link', { name: /^Cancel/ }).waitFor()
  // Banks, creating, handover, processing (and again with news), failed, banks.
  const [screens, open] = (await frameOf(page).evaluate('[screens, open]')) as [number, number]
  t.ok(screens >= 6, `${screens} screens`)
  t.ok(open <= screens - 6, 'only news on the same screen leaves clicks alone')
})
