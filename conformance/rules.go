package conformance

// Rules returns every rule, in the order in which they are judged. Those that end
// the connection come after those that do not: each time makes the controller wait
// longer.
func Rules() []Rule {
	var all []Rule
	for _, group := range [][]Rule{
		beginning(), deciding(), malformed(), moving(), waiting(), beginningAnew(), transport(), saying(),
	} {
		all = append(all, group...)
	}
	return all
}

// beginning are the rules on how a session comes to be.
func beginning() []Rule {
	return []Rule{
		{Name: "connect", Section: "Transport", Says: "The controller connects with its ID as client id and user name, and with its secret.", check: connects},
		{Name: "hello", Section: "hello", Says: "It says hello, validly, and serves the door.", check: saysHello},
		{Name: "asks-time", Section: "Life of a connection", Says: "It asks for the time.", check: asksTime},
		{Name: "reports-doors", Section: "Life of a connection", Says: "It reports every door as soon as it has the time.", check: reportsDoors},
	}
}

// deciding are the rules on which commands are refused.
func deciding() []Rule {
	const section = "Deciding about a command"
	return []Rule{
		{Name: "ack", Section: "ack", Says: "A command is answered with its id, the present session and a code of the table.", needs: aSession, check: answers},
		{Name: "service-time", Section: "Time and deadlines", Says: "Deadlines are judged by the service's time, and not by the wall clock.", needs: aSession, check: keepsServiceTime},
		{Name: "wrong-session", Section: section, Says: "A command of another session is refused with 400.", needs: aSession, check: refusesOtherSession},
		{Name: "late", Section: section, Says: "A command past its deadline is refused with 404.", needs: aSession, check: refusesLate},
		{Name: "too-far-ahead", Section: section, Says: "A deadline more than 60 s ahead is refused with 400.", needs: aSession, check: refusesTooFar},
		{Name: "repeated", Section: section, Says: "The same command again is refused with 400.", needs: aSession, check: refusesRepeated},
		{Name: "out-of-order", Section: section, Says: "A lower sequence number than one seen is refused with 400.", needs: aSession, check: refusesOutOfOrder},
		{Name: "sequence-used", Section: section, Says: "A refused command uses its sequence number up.", needs: aSession, check: usesSequenceUp},
		{Name: "no-such-door", Section: section, Says: "A command for a door that is not there is refused with 501.", needs: aSession, check: refusesNoSuchDoor},
		{Name: "retained", Section: section, Says: "A command with the retain flag is ignored and not answered.", needs: aSession, check: ignoresRetained},
	}
}

// malformed are the rules on reading strictly, and on later versions.
func malformed() []Rule {
	const section = "Messages"
	return []Rule{
		{Name: "unknown-field", Section: section, Says: "A field that is not known is ignored.", needs: aSession, check: ignoresUnknownField},
		{Name: "longest-message", Section: section, Says: "A command of 4096 bytes is read.", needs: aSession, check: readsLongest},
		{Name: "oversized", Section: section, Says: "A command of more than 4096 bytes is not acted on.", needs: aSession, check: refusesOversized},
		{Name: "malformed-json", Section: section, Says: "What is not one JSON object, with nothing after it, is not acted on.", needs: aSession, check: refusesNotJSON},
		{Name: "duplicate-name", Section: section, Says: "A command with a name twice is not acted on.", needs: aSession, check: refusesDuplicate},
		{Name: "invalid-utf8", Section: section, Says: "A command that is not valid UTF-8 is not acted on.", needs: aSession, check: refusesInvalidUTF8},
		{Name: "unknown-version", Section: "cmd", Says: "A command of another version is refused with 400.", needs: aSession, check: refusesVersion},
		{Name: "missing-field", Section: "cmd", Says: "A command without one of its fields is refused with 400.", needs: aSession, check: refusesMissing},
		{Name: "wrong-value", Section: "cmd", Says: "A command with a field out of its limits is refused with 400.", needs: aSession, check: refusesValues},
		{Name: "integers", Section: section, Says: "A number with a fraction or an exponent is refused with 400.", needs: aSession, check: refusesFractions},
		{Name: "letter-case", Section: section, Says: "A name in other letter case is another name.", needs: aSession, check: refusesLetterCase},
	}
}

// moving are the rules on what follows from a command that is taken.
func moving() []Rule {
	return []Rule{
		{Name: "change", Section: "state", Says: "A movement is reported with an event, cause command and the command's id.", Moves: true, needs: aSession, check: reportsChange},
		{Name: "ack-first", Section: "Deciding about a command", Says: "The answer leaves before the reports of what follows from the command.", Moves: true, needs: aSession, check: answersFirst},
	}
}

// waiting are the rules on what comes by itself.
func waiting() []Rule {
	return []Rule{
		{Name: "report-interval", Section: "Limits", Says: "Every door is reported at least every 30 s.", Slow: true, needs: aSession, check: reportsOften},
		{Name: "time-interval", Section: "Limits", Says: "The time is asked for at least every 60 s.", Slow: true, needs: aSession, check: asksOften},
	}
}

// beginningAnew are the rules for which the kit ends the connection.
func beginningAnew() []Rule {
	return []Rule{
		{Name: "event-again", Section: "state", Says: "A change that was not confirmed is sent again after a new connection, with the same event, and a plain report after it.", Moves: true, needs: aSession, check: repeatsEvent},
		{Name: "fresh-session", Section: "Life of a connection", Says: "Each connection has a new session name.", needs: aSession, check: choosesNewSession},
		{Name: "no-time", Section: "Life of a connection", Says: "Without the time, a command is refused with 404.", needs: aSession, check: refusesWithoutTime},
		{Name: "foreign-time", Section: "time", Says: "A time that is not valid, of another session, or with another nonce is ignored.", check: ignoresForeignTime},
		{Name: "slow-time", Section: "Time and deadlines", Says: "An exchange of more than 2 s does not count, and the time is asked for again.", check: asksAgain},
		{Name: "reconnect-delay", Section: "Life of a connection", Says: "Waiting before a new connection is random around a delay that begins at 250 ms and doubles up to 30 s.", check: waitsToReconnect},
	}
}

// transport are the rules on MQTT, judged by everything that was seen.
func transport() []Rule {
	const section = "Transport"
	return []Rule{
		{Name: "mqtt-version", Section: section, Says: "The protocol is MQTT 3.1.1.", check: speaksMQTT311},
		{Name: "clean-session", Section: section, Says: "The clean session flag is set.", check: cleansSession},
		{Name: "keep-alive", Section: section, Says: "The keep-alive is 15 s.", check: keepsAlive},
		{Name: "will", Section: section, Says: "A will is on the controller's own topic, valid, with QoS 0, and not retained.", check: leavesWill},
		{Name: "subscribe-first", Section: "Life of a connection", Says: "SUBACK for cmd and time comes before hello.", check: subscribesFirst},
		{Name: "own-topics", Section: section, Says: "Nothing is published or subscribed to but the controller's own topics.", check: staysInTopics},
		{Name: "retain-flag", Section: section, Says: "The retain flag is never set.", check: neverRetains},
		{Name: "qos", Section: "Topics", Says: "A hello and a change go with QoS 1.", check: usesQoS},
	}
}

// saying are the rules on messages, judged by everything that was said.
func saying() []Rule {
	return []Rule{
		{Name: "hello-first", Section: "hello", Says: "On each connection hello comes first, and once.", check: helloFirst},
		{Name: "valid-messages", Section: "Messages", Says: "Every message is valid.", check: saysValidly},
		{Name: "present-session", Section: "Messages", Says: "Every message names the session of the hello.", check: namesSession},
		{Name: "sequence-rises", Section: "state", Says: "The sequence numbers of reports rise within a session.", check: countsUp},
		{Name: "nonce", Section: "time/request", Says: "Each time request has a new nonce.", check: newNonces},
		{Name: "one-answer", Section: "cmd", Says: "Each command gets exactly one answer.", check: answersOnce},
		{Name: "reason-code", Section: "Reasons", Says: "A reason of the table comes with its code.", check: fitsReasons},
	}
}

// reasons are the words of the document with their codes.
var reasons = map[string]int{
	"already_there": 200, "warning": 200, "close_dropped": 200,
	"malformed": 400, "wrong_session": 400, "repeated": 400, "too_far_ahead": 400,
	"no_time": 404, "late": 404,
	"sensor_lost": 428, "state_stale": 428, "state_unknown": 428, "moving": 428, "wrong_way": 428, "obstructed": 428,
	"unsupported": 501, "no_such_door": 501, "hardware_failed": 501,
}
