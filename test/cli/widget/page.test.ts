import t from 'tap'
import { installOf } from '../../../cli/checkout/snippet.ts'
import { MAKE, WITH_SECRET, contentOf, service } from './service.ts'

const OF_A_PAGE = [...MAKE.slice(1), '--return-url', 'https://shop.example/thanks']

t.test('a snippet is of a page of the merchant, which has to be said', async (t) => {
  const { requests, run } = await service(t)
  const refused = await run(['snippet', '--lang', 'react', ...MAKE.slice(1), '--payer-name', 'Ada L'])
  t.match(refused, {
    code: 2,
    stdout: '',
    stderr: /--return-url or --callback-origin is missing\nTry: --return-url https/,
  })
  t.same(requests, [])
  t.match(await run(['snippet', ...MAKE.slice(1), '--callback-origin', 'shop']), {
    code: 2,
    stdout: '',
    stderr: /Error: --callback-origin: "shop" is not the address of a page\n/,
  })
  const json = await run(['snippet', ...MAKE.slice(1), '--callback-origin', 'https://shop.example/basket', '--json'])
  t.match(contentOf(JSON.parse(json.stdout).token), { callbackOrigin: 'https://shop.example' })
  t.match(json.stdout, /https:\/\/shop\.example/)
})

t.test('the snippet is a container, the async script and the lines of the policy', async (t) => {
  const { url, run } = await service(t)
  const { code, stdout } = await run(['snippet', ...OF_A_PAGE], { env: WITH_SECRET })
  t.equal(code, 0)
  t.match(stdout, `script-src ${url}; frame-src ${url}`)
  t.match(
    stdout,
    /<div id="svc-checkout" style="min-height: 560px">\n {2}<a href="[^"]+\/checkout\?token=[^"]+">[^<]+<\/a>\n<\/div>\n<script\n {2}async\n/,
  )
  t.match(stdout, `src="${url}/v1/checkout.js"`)
  t.match(stdout, /data-container-id="svc-checkout"\n {2}data-checkout-token="[^".]+\.[0-9a-f]{64}"\n><\/script>\n$/)
  const react = await run(['snippet', '--lang', 'react', ...OF_A_PAGE])
  t.match(react.stdout, /frame-src [^]*<SvcCheckout\n +origin="http/)
  t.match(react.stdout, `from '@svc/checkout/react'`)
  t.match(
    react.stderr,
    /not one by its name: npm install --install-links \S+checkout-package'?\nA token for a first try: eyJ\S+\n$/,
  )
  t.match(react.stdout, '@svc/checkout comes with svc: install it from its folder')
  t.notMatch(react.stdout, /eyJ/, 'a page whose server has not answered shows no sample order')
  t.match(react.stdout, /\n\/\/ <Checkout token=\{token\} \/>.*\n$/)
  const vue = await run(['snippet', '--lang', 'vue', ...OF_A_PAGE])
  t.match(vue.stdout, /frame-src [^]*<SvcCheckout origin="http/)
  t.match(vue.stdout, `from '@svc/checkout/vue'`)
  t.match(vue.stdout, '@svc/checkout comes with svc: install it from its folder')
  t.notMatch(vue.stdout, /eyJ/)
  t.match(vue.stdout, /\n<!-- <Checkout :token="token" \/>.* -->\n$/)
  t.match(await run(['snippet', '--lang', 'svelte', ...OF_A_PAGE]), { code: 2, stderr: /html, react, vue/ })
  const json = JSON.parse((await run(['snippet', ...OF_A_PAGE, '--json'])).stdout)
  t.match(json, { lang: 'html', snippet: /checkout\.js/, csp: { 'script-src': url, 'frame-src': url }, install: null })
})

t.test('the line that installs the package keeps a path with spaces in one piece', (t) => {
  t.match(installOf('/srv/the shop/svc'), /--install-links '\/srv\/the shop\/svc\/dist\/checkout-package'$/)
  t.match(installOf('/srv/svc'), /--install-links \/srv\/svc\/dist\/checkout-package$/)
  t.end()
})

t.test('the demo is shown from 127.0.0.1 with the widget of localhost, and not in live mode', async (t) => {
  const { url, run } = await service(t)
  t.match(await run(['demo']), { code: 0, stdout: `${url}/widget-demo.html\n` })
  t.same(JSON.parse((await run(['demo', '--json'])).stdout), {
    demo_url: `${url}/widget-demo.html`,
    widget_origin: url.replace('127.0.0.1', 'localhost'),
  })
  t.match(await run(['demo', '--open'], { env: { SSH_CONNECTION: 'x' } }), { code: 0, stderr: /No browser/ })
  t.match(await run(['demo', '--open'], { env: { BROWSER: 'true' } }), { code: 0, stderr: '' })
  const live = await service(t, 'live')
  t.match(await live.run(['demo']), { code: 6, stdout: '', stderr: /is live: there is no demo[^]*checkout snippet/ })
})
