// Plays an app with a client library from npm, unchanged, against the
// authorization server. The test that runs it is the person: it reads lines of
// JSON that say where to go, and answers each with a line.
//
//   node clients.mjs LIBRARY '{"issuer", "client_id", "client_secret", "redirect_uri", "auth", "scope"}'
import { createInterface } from 'node:readline'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { AuthorizationCode } from 'simple-oauth2'

const given = JSON.parse(process.argv[3])
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const say = (what) => process.stdout.write(JSON.stringify(what) + '\n')
const ask = async (what) => {
  say(what)
  return (await lines.next()).value
}
const need = (ok, what) => {
  if (!ok) throw new Error(what)
}

// openidClient runs the code grant, a refresh, introspection and revocation.
async function openidClient() {
  const auth = {
    basic: () => openid.ClientSecretBasic(given.client_secret),
    post: () => openid.ClientSecretPost(given.client_secret),
    none: () => openid.None(),
  }[given.auth]()
  const config = await openid.discovery(new URL(given.issuer), given.client_id, undefined, auth, { algorithm: 'oauth2' })
  const verifier = openid.randomPKCECodeVerifier()
  const state = openid.randomState()
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: given.redirect_uri, scope: given.scope, state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  })
  const back = await ask({ authorize: address.href })
  const first = await openid.authorizationCodeGrant(config, new URL(back), { pkceCodeVerifier: verifier, expectedState: state })
  const second = await openid.refreshTokenGrant(config, first.refresh_token)
  need(first.access_token !== second.access_token, 'a refresh gives another access token')
  if (given.auth !== 'none') {
    need((await openid.tokenIntrospection(config, second.access_token)).active, 'the new token is active')
  }
  await ask({ use: second.access_token, scope: second.scope })
  await openid.tokenRevocation(config, second.refresh_token)
  say({ revoked: second.access_token })
}

// openidDevice runs the device grant.
async function openidDevice() {
  const config = await openid.discovery(new URL(given.issuer), given.client_id, undefined, openid.None(), { algorithm: 'oauth2' })
  const started = await openid.initiateDeviceAuthorization(config, { scope: given.scope })
  await ask({ device: started.verification_uri_complete, user_code: started.user_code })
  const tokens = await openid.pollDeviceAuthorizationGrant(config, started)
  await ask({ use: tokens.access_token, scope: tokens.scope })
  await openid.tokenRevocation(config, tokens.access_token)
  say({ revoked: tokens.access_token })
}

// oauth4web runs the same by the library below openid-client, which checks more.
async function oauth4web() {
  const issuer = new URL(given.issuer)
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' }))
  const client = { client_id: given.client_id }
  const auth = {
    basic: () => oauth.ClientSecretBasic(given.client_secret),
    post: () => oauth.ClientSecretPost(given.client_secret),
    none: () => oauth.None(),
  }[given.auth]()
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const address = new URL(as.authorization_endpoint)
  for (const [name, value] of Object.entries({
    response_type: 'code', client_id: given.client_id, redirect_uri: given.redirect_uri, scope: given.scope, state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  })) address.searchParams.set(name, value)
  const back = await ask({ authorize: address.href })
  const parameters = oauth.validateAuthResponse(as, client, new URL(back), state)
  const first = await oauth.processAuthorizationCodeResponse(as, client,
    await oauth.authorizationCodeGrantRequest(as, client, auth, parameters, given.redirect_uri, verifier))
  const second = await oauth.processRefreshTokenResponse(as, client,
    await oauth.refreshTokenGrantRequest(as, client, auth, first.refresh_token))
  if (given.auth !== 'none') {
    const told = await oauth.processIntrospectionResponse(as, client,
      await oauth.introspectionRequest(as, client, auth, second.access_token))
    need(told.active && told.client_id === given.client_id, 'the new token is active')
  }
  await ask({ use: second.access_token, scope: second.scope })
  await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, auth, second.refresh_token))
  say({ revoked: second.access_token })
}

// simple runs the code grant as it was before PKCE was common, by header or body.
async function simple() {
  const path = '/oauth/v2/endpoints/'
  const library = new AuthorizationCode({
    client: { id: given.client_id, secret: given.client_secret },
    auth: { tokenHost: given.issuer, authorizePath: path + 'authorization/', tokenPath: path + 'token/', revokePath: path + 'revocation/' },
    options: { authorizationMethod: given.auth === 'basic' ? 'header' : 'body' },
  })
  const back = new URL(await ask({
    authorize: library.authorizeURL({ redirect_uri: given.redirect_uri, scope: given.scope, state: 'simple' }),
  }))
  need(back.searchParams.get('state') === 'simple', 'the state comes back')
  const first = await library.getToken({ code: back.searchParams.get('code'), redirect_uri: given.redirect_uri })
  const second = await first.refresh()
  await ask({ use: second.token.access_token, scope: second.token.scope })
  await second.revokeAll()
  say({ revoked: second.token.access_token })
}

await { 'openid-client': openidClient, 'openid-client device': openidDevice, oauth4webapi: oauth4web, 'simple-oauth2': simple }[process.argv[2]]()
process.exit(0)
