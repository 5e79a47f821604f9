import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, inflateSync } from 'node:zlib'
import t from 'tap'
import { encode } from 'uqr'
import { accessibilityProblems, openBrowser, openPage } from '../support/browser.ts'
import { signedToken } from '../support/checkout.ts'
import { cutProxy } from '../support/cut-proxy.ts'
import { realService } from './real-service.ts'

const service = await realService(t)
const merchant = await service.merchant()
const browser = await openBrowser(t)
const PAY = ['payments', 'link', '--amount', '50.00', '--currency', 'GBP']
const env = { SVC_WEBHOOK_SECRET: merchant.secret }

async function link(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await service.as(merchant, [...PAY, ...words], { env })
  t.equal(code, 0, stderr)
  return stdout.trim()
}

t.test('a link takes one payment, without a website, and its last page is a receipt to print', async (t) => {
  await service.as(merchant, ['checkout', 'origins', 'add', 'https://shop.example'])
  const url = await link('--remittance-reference', 'INVOICE 42')
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/checkout\?token=[\w%]+\.[0-9a-f]{64}$/)
  const { page, complaints } = await openPage(browser, { width: 320, height: 700 })
  await page.goto(url)
  await page.getByText('INVOICE 42').waitFor()
  t.equal(await page.getByText(/return to/i).count(), 0, 'there is no shop to return to')
  t.same(await accessibilityProblems(page), [])
  await page.getByLabel('Fern').check()
  await page.getByRole('button', { name: 'Pay £50.00 by bank' }).click()
  await page.getByRole('button', { name: /^Approve/ }).click()
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
  t.equal(await page.getByText(/return to/i).count(), 0)
  const hint = page.getByText('You can print this page: it is your receipt.')
  t.ok(await hint.isVisible())
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  t.notOk(await hint.isVisible())
  t.notOk(await page.getByText('How the shop is paid').isVisible())
  t.ok(await page.getByText('£50.00').first().isVisible())
  t.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)')
  await page.goto(url)
  await page.getByRole('heading', { name: 'Already paid' }).waitFor()
  t.equal(await page.getByRole('button').count(), 0)
  t.same(complaints, [])
})

t.test('a link ends, and is valid for nothing but the page of the service', async (t) => {
  const { page } = await openPage(browser)
  const own = { returnUrl: `${service.url}/payments/return`, callbackOrigin: service.url }
  const ended = signedToken(service, merchant, { ...own, exp: Math.floor(Date.now() / 1_000) - 1 })
  await page.goto(`${service.url}/checkout?${new URLSearchParams({ token: ended })}`)
  await page.getByRole('heading', { name: 'This checkout has ended' }).waitFor()
  const token = new URL(await link()).searchParams.get('token') ?? ''
  const changed = Buffer.from(
    Buffer.from(token.split('.')[0] ?? '', 'base64')
      .toString()
      .replace('50.00', '5.00'),
  ).toString('base64')
  await page.goto(`${service.url}/checkout?${new URLSearchParams({ token: `${changed}.${token.split('.')[1]}` })}`)
  await page.getByRole('heading', { name: "This checkout can't be used" }).waitFor()
  t.equal(await page.getByRole('button').count(), 0)
})

t.test('a link that the service would not take is not printed, and its refusal says why', async (t) => {
  const refused = async (words: readonly string[], more: NodeJS.ProcessEnv, why: RegExp): Promise<void> => {
    const file = join(t.testdir(), 'link.png')
    const { code, stdout, stderr } = await service.as(merchant, [...PAY, '--qr-file', file, ...words], {
      env: { ...env, ...more },
    })
    t.not(code, 0)
    t.equal(stdout, '')
    t.match(stderr, why)
    t.notOk(existsSync(file), 'and no picture is written')
  }
  await refused([], { SVC_WEBHOOK_SECRET: 'f'.repeat(64) }, /signature is not its merchant's[^]*--secret-file/)
  await refused(['--amount', '999999999.00'], {}, /amount/)
  await refused(['--currency', 'USD'], {}, /currency: is not one of/)
  await refused(['--expires-in', '0s'], {}, /has expired/)
  const { url: inside } = await cutProxy(t, service.url)
  await refused([], { SVC_API_URL: inside }, new RegExp(`must be ${service.url}/api/v1[^]*--api-url`))
})

/** The modules of a picture, read from its pixels. */
function modulesOf(png: Buffer, side: number): boolean[][] {
  const width = png.readUInt32BE(16)
  const at = png.indexOf('IDAT')
  const length = png.readUInt32BE(at - 4)
  t.equal(png.readUInt32BE(at + 4 + length), crc32(png.subarray(at, at + 4 + length)), 'its checksum')
  const pixels = inflateSync(png.subarray(at + 4, at + 4 + length))
  const step = width / side
  return Array.from({ length: side }, (_row, row) =>
    Array.from({ length: side }, (_column, column) => pixels[row * step * (width + 1) + 1 + column * step] === 0),
  )
}

t.test('its QR code is a picture in two formats, and one for the terminal', async (t) => {
  const folder = t.testdir()
  const [png, svg] = [join(folder, 'link.png'), join(folder, 'link.svg')]
  const url = await link('--jti', 'invoice-42', '--qr-file', png)
  const expected = encode(url, { ecc: 'M', border: 4 })
  t.same(modulesOf(readFileSync(png), expected.size), expected.data)
  const other = await link('--qr-file', svg)
  const dark = encode(other, { ecc: 'M', border: 4 }).data.flat().filter(Boolean).length
  t.ok(expected.size <= 110, `${url.length} characters, ${expected.size} modules`)
  t.equal(readFileSync(svg, 'utf8').match(/h1v1h-1z/g)?.length, dark)
  const { page } = await openPage(browser)
  for (const [type, file] of [
    ['image/png', png],
    ['image/svg+xml', svg],
  ] as const) {
    await page.setContent(`<img src="data:${type};base64,${readFileSync(file).toString('base64')}">`)
    await page.waitForFunction('document.images[0].naturalWidth > 300')
  }
  const beside = await service.as(merchant, [...PAY, '--qr-file', 'beside.png'], { env, cwd: folder })
  t.ok(existsSync(join(folder, 'beside.png')), beside.stderr)
  const drawn = await service.as(merchant, [...PAY, '--qr'], { env, tty: true, columns: 200 })
  t.match(drawn.stdout, /█[^]*\/checkout\?token=/)
  const machine = await service.as(merchant, [...PAY, '--jti', 'invoice-42', '--json'], { env })
  t.match(JSON.parse(machine.stdout), { url: /\/checkout\?token=/, amount: '50.00', order: 'invoice-42', signed: true })
  t.match(await service.as(merchant, [...PAY, '--qr', '--json'], { env }), { code: 2 })
  t.match(await service.as(merchant, [...PAY, '--qr-file', 'link.gif'], { env }), {
    code: 2,
    stderr: /\.png nor a \.svg/,
  })
  t.match(await service.as(merchant, [...PAY, '--qr-file', `${folder}/none/link.png`], { env }), {
    code: 2,
    stderr: /can't write/,
  })
})
