/** Starts the viewer of the API reference, which the page loads before (widget/build/reference.ts). */
declare const SwaggerUIBundle: (options: Record<string, unknown>) => void

const isOpenBanking = new URLSearchParams(location.search).get('surface') === 'a'
SwaggerUIBundle({
  url: isOpenBanking ? '/open-banking/v1/openapi.json' : '/openapi.json',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  // It shows; requests are sent with svc api, and credentials are never typed into it.
  supportedSubmitMethods: [],
  validatorUrl: null,
})
