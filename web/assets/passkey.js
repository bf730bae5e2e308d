// @ts-check
// Passkeys: the only thing on these pages that needs a script. A form with
// data-passkey is shown where the browser can do them; sending it asks the
// service for a challenge, the browser for the answer, and the service again.
'use strict';

(() => {
	/**
	 * @param {string} text base64url
	 * @returns {Uint8Array}
	 */
	const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));

	/**
	 * @param {ArrayBuffer|null|undefined} buffer
	 * @returns {string|undefined} base64url
	 */
	const text = (buffer) => buffer
		? btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
		: undefined;

	/**
	 * Turns options as they come over the wire into what the browser takes.
	 * @param {any} wire
	 * @returns {any}
	 */
	const readOptions = (wire) => {
		const options = { ...wire, challenge: bytes(wire.challenge) };
		if (wire.user) options.user = { ...wire.user, id: bytes(wire.user.id) };
		for (const list of ['allowCredentials', 'excludeCredentials']) {
			if (wire[list]) options[list] = wire[list].map((/** @type {any} */ c) => ({ ...c, id: bytes(c.id) }));
		}
		return options;
	};

	/**
	 * Turns a credential into what goes over the wire.
	 * @param {any} credential PublicKeyCredential
	 * @returns {string}
	 */
	const written = (credential) => {
		const r = credential.response;
		return JSON.stringify({
			id: credential.id,
			rawId: text(credential.rawId),
			type: credential.type,
			authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
			clientExtensionResults: credential.getClientExtensionResults(),
			response: {
				clientDataJSON: text(r.clientDataJSON),
				attestationObject: text(r.attestationObject),
				transports: r.getTransports ? r.getTransports() : undefined,
				authenticatorData: text(r.authenticatorData),
				signature: text(r.signature),
				userHandle: text(r.userHandle),
			},
		});
	};

	/**
	 * Sends fields to the service.
	 * @param {string} url
	 * @param {HTMLFormElement} form whose fields go along
	 * @param {Record<string, string>} [more]
	 * @returns {Promise<any>}
	 */
	const send = async (url, form, more = {}) => {
		const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
		for (const [name, value] of Object.entries(more)) body.set(name, value);
		const answer = await fetch(url, { method: 'POST', body, headers: { Accept: 'application/json' } });
		const said = await answer.json();
		if (!answer.ok) throw Object.assign(new Error(said.error || 'That did not work.'), said);
		return said;
	};

	/** @type {AbortController|undefined} */
	let waiting;

	// Set while an answer is on its way to the service, and until the next page is
	// there: the e-mail field and the button must not both sign in.
	let finishing = false;
	window.addEventListener('pageshow', () => { finishing = false; });

	/**
	 * Does one ceremony. A browser does one at a time: an earlier one that still
	 * waits for the person is given up.
	 * @param {HTMLFormElement} form
	 * @param {CredentialMediationRequirement} [mediation]
	 */
	const ceremony = async (form, mediation) => {
		if (finishing) return;
		const { ticket, options } = await send(form.dataset.begin ?? '', form);
		const publicKey = readOptions(options.publicKey ?? options);
		waiting?.abort();
		const mine = waiting = new AbortController();
		const request = { publicKey, signal: mine.signal, ...(mediation && { mediation }) };
		const credential = form.dataset.passkey === 'create'
			? await navigator.credentials.create(request)
			: await navigator.credentials.get(request);
		if (!credential || finishing) return;
		finishing = true;
		try {
			const { location: next } = await send(form.dataset.finish ?? '', form, { ticket, response: written(credential) });
			location.assign(next);
		} catch (problem) {
			finishing = false;
			throw problem;
		}
	};

	/**
	 * Says what went wrong. That the person gave up needs no words.
	 * @param {HTMLFormElement} form
	 * @param {any} problem
	 */
	const say = (form, problem) => {
		if (problem.location) {
			location.assign(problem.location);
			return;
		}
		const words = {
			AbortError: '',
			NotAllowedError: 'No passkey was used. Try again when you are ready.',
			InvalidStateError: 'This device has a passkey for your account already.',
			SecurityError: 'This browser does not use passkeys at this address.',
		}[/** @type {string} */ (problem.name)] ?? problem.message;
		const place = /** @type {HTMLElement|null} */ (form.querySelector('[role=alert]'));
		if (place) {
			place.textContent = words;
			place.hidden = !words;
		}
	};

	if (!window.PublicKeyCredential) return;
	for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll('form[data-passkey]'))) {
		const button = form.querySelector('button');
		for (const part of document.querySelectorAll('[data-with-passkeys]')) /** @type {HTMLElement} */ (part).hidden = false;
		for (const part of document.querySelectorAll('[data-without-passkeys]')) /** @type {HTMLElement} */ (part).hidden = true;
		form.addEventListener('submit', async (event) => {
			event.preventDefault();
			if (button) button.disabled = true;
			try {
				await ceremony(form);
			} catch (problem) {
				say(form, problem);
			} finally {
				if (button) button.disabled = false;
			}
		});
		// Where the browser can, it also offers passkeys in the e-mail field.
		if (form.dataset.passkey === 'get') {
			PublicKeyCredential.isConditionalMediationAvailable?.().then((can) => {
				if (can) ceremony(form, 'conditional').catch((problem) => { if (problem.name === 'Error') say(form, problem); });
			});
		}
	}
})();
