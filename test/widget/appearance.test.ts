import type { Route } from 'playwright-core'
import t from 'tap'
import { contrastRatio } from '../../src/lib/contrast.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'
import { readAppearance } from '../../widget/appearance.ts'
import { CONTRAST, accessibilityProblems, openBrowser } from '../support/browser.ts'
import { until } from '../support/app.ts'
import { frameOf, openWidget, openWidgetShop } from '../support/widget-page.ts'
import { screenshot } from '../support/widget-screens.ts'

/** Reads a look, and what the console says about it. */
function read(given: unknown, isDark = false) {
  const { warn } = console
  const warnings: string[] = []
  console.warn = (text: string) => warnings.push(text.replace('svc checkout: appearance ', ''))
  try {
    return { ...readAppearance(given, { isDark, contrastRatio }), warnings }
  } finally {
    console.warn = warn
  }
}

t.test('a look is read member by member, as an object or as the JSON of an attribute', async (t) => {
  const look = { primary: '#003B2F', background: '#FFF8F0', text: '#221100', font: 'Georgia', radius: 0 }
  const { primary, background, text } = look
  const expected = { colors: { primary, background, text }, font: 'Georgia', radius: '0', warnings: [] }
  t.same(read(look), expected)
  t.same(read(JSON.stringify({ ...look, radius: '0' })), expected)
  t.same(read({}), { colors: {}, warnings: [] })
})

t.test('payers with the dark look get its colours and no others', async (t) => {
  const look = { primary: '#003B2F', background: '#FFF8F0', text: '#221100', radius: 4 }
  t.same(read(look, true), { colors: {}, radius: '4', warnings: [] })
  const dark = { primary: '#8AB8FF', background: '#101820', text: '#EEF2F7' }
  t.same(read({ ...look, dark }, true), {
    colors: dark,
    radius: '4',
    warnings: [],
  })
})

t.test('what would break the style sheet or the contrast is left out, and the console says why', async (t) => {
  const hostile = {
    primary: 'red;}*{display:none',
    background: 'url(https://evil.example)',
    text: '#222',
    font: 'x; background: url(https://evil.example)',
    radius: '4px;',
    padding: '9em',
  }
  const { warnings, ...rest } = read(hostile)
  t.same(rest, { colors: {} })
  t.same(
    warnings.map((each) => each.replace(/:.*;/s, ';')),
    [
      '"primary"; expected a colour as #RRGGBB',
      '"background"; expected a colour as #RRGGBB',
      '"text"; expected a colour as #RRGGBB',
      '"font"; expected one of system-ui, serif, sans-serif, monospace, Arial, Georgia, Verdana',
      '"radius"; expected whole pixels from 0 to 24',
      '"padding"; expected a name from the documentation',
    ],
  )
  t.same(read({ primary: '#003B2F', text: '#CCCCCC', background: '#FFFFFF' }), {
    colors: { primary: '#003B2F' },
    warnings: ['"text": #CCCCCC on #FFFFFF is ignored; expected colours with a contrast of at least 4.5:1'],
  })
  t.same(read({ primary: '#003B2F', text: '#111111' }), {
    colors: { primary: '#003B2F' },
    warnings: ['"text": #111111 is ignored; expected "background" beside it'],
  })
  t.same(read({ dark: { background: '#000000' } }, true), {
    colors: {},
    warnings: ['"background": #000000 is ignored; expected "text" beside it'],
  })
  for (const radius of [-1, 25, 4.5, Number.NaN, Infinity, null, {}])
    t.same(read({ radius }).radius, undefined, String(radius))
  t.match(read('{'), { colors: {}, warnings: [/^"appearance": \{ is ignored; expected JSON$/] })
  for (const nothing of [null, undefined, 1, 'null', '[]']) t.same(read(nothing), { colors: {}, warnings: [] })
})

t.test('a look that does not load, never comes or throws costs the payer nothing but the look', async (t) => {
  const shop = await openWidgetShop(t)
  const browser = await openBrowser(t)
  const FILE = '**/widget/chunks/appearance-*.js'
  const cases: [string, string, (route: Route) => unknown][] = [
    ['does not load', '{"radius":0}', (route) => route.abort()],
    ['is not a script', '{"radius":0}', (route) => route.fulfill({ contentType: 'text/html', body: '<p>' })],
    ['never comes', '{"radius":0}', () => undefined],
    ['throws', '{"font":{"toString":1,"valueOf":1}}', (route) => route.continue()],
  ]
  for (const [name, appearance, answer] of cases) {
    let asked = 0
    const { widget, context, complaints } = await openWidget(browser, shop, {
      attributes: { appearance },
      prepare: (page) =>
        page.route(FILE, (route) => {
          asked += 1
          return answer(route)
        }),
    })
    await widget.getByRole('button', { name: en.continue }).press('Enter')
    await widget.getByRole('option', { name: /Fern/ }).waitFor()
    t.equal(asked, 1, name)
    const isKnown = (text: string): boolean => /dynamically imported module|primitive value/.test(text)
    if (name !== 'never comes') await until(async () => complaints.some(isKnown))
    await context.close()
  }
})

t.test("a page's look is shown over the branding, in the light and in the dark", async (t) => {
  const shop = await openWidgetShop(t)
  const browser = await openBrowser(t)
  const appearance = JSON.stringify({
    primary: '#7A1F3D',
    background: '#FFF8F0',
    text: '#2B1A12',
    font: 'Georgia',
    radius: 0,
    dark: { primary: '#FFB3C7' },
  })
  const opened = await openWidget(browser, shop, { attributes: { appearance, scheme: 'light dark' } })
  const { widget, page, complaints } = opened
  const button = widget.getByRole('button', { name: en.continue })
  await button.waitFor()
  const look = (): Promise<unknown> =>
    frameOf(page).evaluate(`(() => {
      const button = getComputedStyle(document.querySelector('.main'))
      const { backgroundColor, color, fontFamily } = getComputedStyle(document.body)
      return [button.backgroundColor, button.color, button.borderRadius, backgroundColor, color, fontFamily]
    })()`)
  // The first screen does not wait for the look, which has a file of its own.
  const hasLook = `document.documentElement.style.getPropertyValue('--svc-primary') !== ''`
  await frameOf(page).waitForFunction(hasLook)
  t.same(await look(), [
    'rgb(122, 31, 61)',
    'rgb(255, 255, 255)',
    '0px',
    'rgb(255, 248, 240)',
    'rgb(43, 26, 18)',
    'Georgia',
  ])
  t.same(await accessibilityProblems(page), [])
  await screenshot(opened, 'en-ST-01-appearance')
  await button.press('Enter')
  await widget.getByRole('option', { name: /Fern/ }).press('Enter')
  await widget.locator('canvas[width]').waitFor()
  t.same(await accessibilityProblems(page, { only: [CONTRAST] }), [])
  await screenshot(opened, 'en-ST-03-appearance')
  const dark = await openWidget(browser, shop, {
    attributes: { appearance, scheme: 'light dark' },
    context: { colorScheme: 'dark' },
  })
  await dark.widget.getByRole('button', { name: en.continue }).waitFor()
  await frameOf(dark.page).waitForFunction(hasLook)
  t.same(
    await frameOf(dark.page).evaluate(
      "[getComputedStyle(document.querySelector('.main')).backgroundColor, getComputedStyle(document.body).backgroundColor]",
    ),
    ['rgb(255, 179, 199)', 'rgb(21, 26, 33)'],
  )
  t.same(await accessibilityProblems(dark.page, { only: [CONTRAST] }), [])
  await screenshot(dark, 'en-ST-01-appearance-dark')
  t.same([...complaints, ...dark.complaints], [])
})

t.test('a button with too little contrast to the page has a border with enough', async (t) => {
  const shop = await openWidgetShop(t)
  const browser = await openBrowser(t)
  const pale = { primary: '#FFF0D8', background: '#FFF8F0', text: '#2B1A12' }
  const cases = [
    ['like the background beside it', { ...pale }, 'light', 'rgb(43, 26, 18)'],
    ["like the service's own", { primary: '#FFF0D8' }, 'light', 'rgb(17, 17, 17)'],
    ["like the service's own in the dark", { dark: { primary: '#202530' } }, 'dark', 'rgb(238, 242, 247)'],
    ['unlike it', { ...pale, primary: '#7A1F3D' }, 'light', 'rgba(0, 0, 0, 0)'],
  ] as const
  for (const [name, appearance, theme, border] of cases) {
    const { widget, page, context } = await openWidget(browser, shop, {
      attributes: { appearance: JSON.stringify(appearance), theme },
    })
    await widget.getByRole('button', { name: en.continue }).waitFor()
    const shown = "document.documentElement.style.getPropertyValue('--svc-primary') !== ''"
    await frameOf(page).waitForFunction(shown)
    t.equal(
      await frameOf(page).evaluate("getComputedStyle(document.querySelector('.main')).borderTopColor"),
      border,
      name,
    )
    await context.close()
  }
})
