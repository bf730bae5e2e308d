package main

// agentSample is a configuration file of the agent that is valid as it stands.
const agentSample = `# Wiring of the doors of "lintel agent". docs/agent.md explains every key.
# A line is a chip and an offset on it: on a Raspberry Pi, gpiochip0 and the GPIO number.

[[door]]
number = 1               # of the enrolled door, 1 to 32
opener = "one-button"    # "one-button", "discrete" or "monitor"
travel = "15s"           # longest time that a whole movement takes, 1s to 5m
pulse = "500ms"          # how long a contact is closed, 50ms to 5s
warning = "5s"           # how long to warn before a close, up to 1m; "0s" for no warning
sole_control = false     # true only if there is no wall button and no remote control

relay = { line = "gpiochip0:17", active_low = false }
# A discrete opener has these instead of relay:
# open = { line = "gpiochip0:17" }
# close = { line = "gpiochip0:27" }
# stop = { line = "gpiochip0:22" }

# Contacts between the line and ground. active_low = true: a closed contact is "there".
closed_sensor = { line = "gpiochip0:23", active_low = true, bias = "pull-up", debounce = "20ms" }
open_sensor = { line = "gpiochip0:24", active_low = true, bias = "pull-up", debounce = "20ms" }
# obstruction = { line = "gpiochip0:25", active_low = false, bias = "pull-up" }

light = { line = "gpiochip0:12", active_low = false }
buzzer = { line = "gpiochip0:13", active_low = false }
`
