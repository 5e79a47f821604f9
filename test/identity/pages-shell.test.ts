import { createHash } from 'node:crypto'
import t from 'tap'
import { loginPage } from '../../src/identity/embedded/pages/login.ts'
import { passwordSetPage } from '../../src/identity/embedded/pages/set-password.ts'
import { formSourceOf, page } from '../../src/identity/embedded/pages/shell.ts'
import type { PageReply } from '../../src/identity/embedded/pages/shell.ts'
import type { Theme } from '../../src/identity/embedded/pages/style.ts'

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`
const content = { html: '<h1>A page</h1>' }

function policyOf({ headers }: PageReply): string {
  return headers['content-security-policy'] ?? ''
}

t.test('text of merchants and users is never markup', async (t) => {
  const { body } = loginPage({
    theme: { displayName: HOSTILE },
    action: HOSTILE,
    forgotPath: HOSTILE,
    email: HOSTILE,
    formTargets: [],
  })
  t.notMatch(body, /<script|<img/)
  t.equal(body.match(/&quot;&gt;&lt;script&gt;/g)?.length, 5)
})

t.test('the one style sheet is allowed by its hash, whatever the theme', async (t) => {
  for (const theme of [{ displayName: 'A' }, { displayName: 'A', colors: { accent: '#7a1f3d' } }]) {
    const reply = page({ theme, title: 'A page', content })
    const style = /<style>([^]*)<\/style>/.exec(reply.body)?.[1] ?? ''
    t.match(policyOf(reply), `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    t.notMatch(policyOf(reply), /unsafe|script-src|\*/)
  }
})

t.test("a theme's colours are validated and replace both modes", async (t) => {
  const theme: Theme = { displayName: 'A', colors: { accent: '#7A1F3D', onAccent: '#ffffff', page: 'url(//evil)' } }
  const { body } = page({ theme, title: 'A page', content })
  t.match(body, ':root { --accent: #7A1F3D; --on-accent: #ffffff; }')
  t.notMatch(body, /evil|prefers-color-scheme/)
  t.match(page({ theme: { displayName: 'A' }, title: 'A page', content }).body, /prefers-color-scheme: dark/)
})

t.test('a logo is one https address or absent', async (t) => {
  const logo = page({ theme: { displayName: 'A', logoUrl: 'https://cdn.example/a.png' }, title: 'A page', content })
  t.match(logo.body, '<img class="logo" src="https://cdn.example/a.png" alt="">')
  t.match(policyOf(logo), 'img-src https://cdn.example data:;')
  for (const logoUrl of ['http://cdn.example/a.png', 'javascript:alert(1)', 'data:image/png;base64,', 'a.png']) {
    const none = page({ theme: { displayName: 'A', logoUrl }, title: 'A page', content })
    t.notMatch(none.body, /<img/, logoUrl)
    t.match(policyOf(none), 'img-src data:;', logoUrl)
  }
})

t.test('a page names an empty icon, which its policy allows, so that browsers ask for no other', async (t) => {
  const reply = page({ theme: { displayName: 'A' }, title: 'A page', content })
  t.match(reply.body, '<link rel="icon" href="data:,">')
  t.match(policyOf(reply), 'img-src data:;')
})

t.test("forms may only lead to the sign-in's target origin", async (t) => {
  t.same(formSourceOf(undefined), [])
  t.same(formSourceOf('not an address'), [])
  t.same(formSourceOf('https://portal.example/callback?x=1'), ['https://portal.example'])
  t.same(formSourceOf('http://127.0.0.1:51234/callback'), ['http://127.0.0.1:51234'])
  t.same(formSourceOf('http://[::1]:51234/callback'), ['http:'], 'a source can not name an IPv6 address')
  t.same(formSourceOf('com.example.app:/callback'), ['com.example.app:'])
  for (const address of ["https://a';script-src *;.example/", 'https://a.example;default-src/']) {
    for (const source of formSourceOf(address)) t.notMatch(source, /[;'\s]/, address)
  }
  const reply = loginPage({
    theme: { displayName: 'A' },
    action: '/',
    forgotPath: '/',
    formTargets: ['https://portal.example'],
  })
  t.match(policyOf(reply), "form-action 'self' https://portal.example; base-uri 'none'; frame-ancestors 'none'")
})

t.test('only web addresses follow an invitation', async (t) => {
  const view = { theme: { displayName: 'A' }, purpose: 'invite', slug: 'acme', clientId: 'acme-portal' } as const
  t.match(passwordSetPage({ ...view, redirectUri: 'https://portal.example/' }).body, 'href="https://portal.example/"')
  for (const redirectUri of [null, 'javascript:alert(1)', 'data:text/html,x', 'nonsense']) {
    t.notMatch(passwordSetPage({ ...view, redirectUri }).body, /<a\b/, String(redirectUri))
  }
  t.match(passwordSetPage({ ...view, redirectUri: null }).body, 'svc login --realm acme')
})
