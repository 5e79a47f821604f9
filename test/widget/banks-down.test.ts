import t from 'tap'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { accessibilityProblems, CONTRAST, openBrowser } from '../support/browser.ts'
import { openWidget, openWidgetShop } from '../support/widget-page.ts'
import type { OpenWidget } from '../support/widget-page.ts'
import { screenshot } from '../support/widget-screens.ts'

const shop = await openWidgetShop(t)
const browser = await openBrowser(t)

/** At noon of a day in summer, in London, two banks are down: Albion since ten to, and Fern since the day before. */
const NOW = new Date('2026-06-09T11:00:00Z')
const DOWN: Record<string, string> = { Albion: '2026-06-09T10:50:00.000Z', Fern: '2026-06-08T08:00:00.000Z' }

type ListedBank = { name: string; available: boolean; unavailable_since: string | null }

function openWithBanksDown(): Promise<OpenWidget> {
  return openWidget(browser, shop, {
    context: { timezoneId: 'Europe/London', locale: 'en-GB' },
    attributes: { noRedirect: true },
    prepare: async (page) => {
      await page.clock.setFixedTime(NOW)
      await page.route('**/api/v1/banks', async (route) => {
        const response = await route.fetch()
        const { data } = (await response.json()) as { data: ListedBank[] }
        const banks = data.map((bank) => {
          const since = DOWN[bank.name.split(' ')[0] ?? '']
          return since === undefined ? bank : { ...bank, available: false, unavailable_since: since }
        })
        await route.fulfill({ response, json: { data: banks } })
      })
    },
  })
}

t.test('a bank that is down is shown with the time since, and is not chosen by pointer or keyboard', async (t) => {
  const opened = await openWithBanksDown()
  const { widget, page, complaints } = opened
  await widget.getByRole('button', { name: en.continue }).click()
  const albion = widget.getByRole('option', { name: /^A? ?Albion/ })
  await albion.getByText('Not available since 11:50', { exact: true }).waitFor()
  await widget.getByRole('option', { name: /Fern/ }).getByText('Not available since 8 June 2026 at 09:00').waitFor()
  t.equal(await albion.getAttribute('aria-disabled'), 'true')
  t.same(await accessibilityProblems(page), [])
  await screenshot(opened, 'en-ST-02-banks-down')
  await page.emulateMedia({ colorScheme: 'dark' })
  t.same(await accessibilityProblems(page, { only: [CONTRAST] }), [], 'in the dark')
  await screenshot(opened, 'en-ST-02-banks-down-dark')
  await widget.getByLabel(en.search).fill('albion')
  await widget.getByLabel(en.search).press('Enter')
  await albion.press('Enter')
  await albion.press(' ')
  await albion.click({ force: true })
  const title = widget.getByRole('heading', { level: 1 })
  t.equal(await title.textContent(), en.banksTitle, 'nothing was chosen')
  t.same(complaints, [])
})
