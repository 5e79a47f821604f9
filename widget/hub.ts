import { makeAccountBar } from './hub/account-bar.ts'
import { makeApi } from './hub/api.ts'
import { showArrival } from './hub/arrival-view.ts'
import { showCancel } from './hub/cancel-view.ts'
import { showDispute } from './hub/dispute-view.ts'
import { makeFormat } from './hub/format.ts'
import type { Hub } from './hub/hub-context.ts'
import { loadLanguage } from './hub/language.ts'
import type { Texts } from './hub/language.ts'
import { alertBox } from './hub/parts.ts'
import { showPayment } from './hub/payment-view.ts'
import { showPayments } from './hub/payments-view.ts'
import { showPermissions } from './hub/permissions-view.ts'
import { hashOf, routeOf, tokenIn } from './hub/routes.ts'
import type { Route } from './hub/routes.ts'
import { makeSessionStore } from './hub/session.ts'
import { showSignIn } from './hub/sign-in-view.ts'
import { makeStage } from './hub/stage.ts'

/** Removes the link's token from the URL first, so that it can't be read there later. */
function takeToken(): string | undefined {
  const token = tokenIn(location.hash)
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search)
  return token
}

function requireElement(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no #${id}`)
  return found
}

/** The current and previous route, and the notice for the next view. */
type Navigation = { current: Route | undefined; before: Route | undefined; notice: string | undefined }

type HubOptions = {
  texts: Texts
  /** The language for dates and amounts. */
  tag: string
  navigation: Navigation
  /** Shows the view of the current URL. */
  open(): void
  hideBar(): void
}

/** The context shared by all views. */
function makeHub({ texts, tag, navigation, open, hideBar }: HubOptions): Hub {
  const live = requireElement('live')
  const session = makeSessionStore()
  const hub: Hub = {
    texts,
    format: makeFormat(tag),
    api: makeApi(session),
    session,
    drafts: new Map(),
    cameFrom: () => navigation.before,
    show: makeStage(requireElement('main'), texts.site),
    announce: (text) => {
      live.textContent = text
    },
    go(route, saying) {
      navigation.notice = saying
      history.replaceState(null, '', hashOf(route))
      open()
    },
    again: open,
    signedIn: () => hub.go({ name: 'payments' }),
    signedOut(why) {
      const text = why === 'ended' ? texts.session.ended : texts.session.signedOut
      if (why === 'by-choice') hub.drafts.clear()
      session.forget()
      hideBar()
      hub.announce(text)
      // A payer who is already requesting a new link is not interrupted.
      if (why === 'ended' && navigation.current?.name === 'new-link') return
      showSignIn(hub, { notice: alertBox(why === 'ended' ? 'note' : 'good', text) })
    },
  }
  return hub
}

/** Starts the page: URL and session decide which view is shown. */
async function startHub(): Promise<void> {
  const token = takeToken()
  const { tag, texts } = await loadLanguage(document.documentElement.lang)
  document.documentElement.lang = tag
  const navigation: Navigation = { current: undefined, before: undefined, notice: undefined }
  const hub = makeHub({ texts, tag, navigation, open, hideBar: () => bar.show(undefined) })
  const bar = makeAccountBar(hub, requireElement('account'), () => {
    // The call reads the token before it is deleted; the page does not wait for the response.
    void hub.api.signOut()
    hub.signedOut('by-choice')
  })

  function open(): void {
    const { notice } = navigation
    const route = routeOf(location.hash)
    Object.assign(navigation, { current: route, before: navigation.current, notice: undefined })
    if (hub.session.read() === undefined) {
      bar.show(undefined)
      return showSignIn(hub)
    }
    bar.show(route)
    void showRoute(hub, route, notice)
  }

  function showLocation(arrived: string | undefined): void {
    if (arrived === undefined) return open()
    bar.show(undefined)
    showArrival(hub, arrived)
  }
  window.addEventListener('hashchange', () => showLocation(takeToken()))
  // A page restored from the back-forward cache may show data of an expired session.
  window.addEventListener('pageshow', ({ persisted }) => persisted && open())
  showLocation(token)
}

async function showRoute(hub: Hub, route: Route, notice: string | undefined): Promise<void> {
  switch (route.name) {
    case 'payments':
      return showPayments(hub)
    case 'payment':
      return showPayment(hub, route.id, notice)
    case 'dispute':
      return showDispute(hub, route.id)
    case 'permissions':
      return showPermissions(hub, notice)
    case 'cancel':
      return showCancel(hub, route.id)
    case 'new-link':
      return showSignIn(hub, { isRenewal: true })
  }
}

void startHub()
