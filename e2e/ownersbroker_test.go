package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// mosquitto is a broker that the owner already runs: Debian's, with a user for Lintel
// and one for the devices.
type mosquitto struct {
	*process
	dir     string
	Address string
	program []string // that runs it
}

const (
	lintelsPassword = "upstream-secret-of-lintel"
	devicesPassword = "upstream-secret-of-devices"
)

// startMosquitto runs a broker on loopback. lines are added to its configuration.
func startMosquitto(t *testing.T, lines ...string) *mosquitto {
	t.Helper()
	needTool(t, "mosquitto", "mosquitto")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mosquitto{dir: t.TempDir(), Address: l.Addr().String(), program: []string{found("mosquitto")}}
	l.Close()
	m.prepare(t, append([]string{m.listener()}, lines...)...)
	m.run(t)
	return m
}

// listener is the line for loopback. What is of TLS comes after it.
func (m *mosquitto) listener() string {
	_, port, _ := net.SplitHostPort(m.Address)
	return "listener " + port + " 127.0.0.1"
}

// prepare writes what the broker needs.
func (m *mosquitto) prepare(t *testing.T, lines ...string) {
	t.Helper()
	passwords := m.file("passwords", "")
	for user, password := range map[string]string{"lintel": lintelsPassword, "device": devicesPassword} {
		if out, err := exec.Command("mosquitto_passwd", "-b", passwords, user, password).CombinedOutput(); err != nil {
			t.Fatalf("mosquitto_passwd: %v %s", err, out)
		}
	}
	m.write("mosquitto.conf", append([]string{
		"per_listener_settings false", "password_file " + passwords, "allow_anonymous false",
		"persistence true", "persistence_location " + m.dir + "/", "autosave_interval 1", "log_type all",
	}, lines...)...)
}

func (m *mosquitto) file(name, text string) string {
	path := filepath.Join(m.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return path
}

// write writes a file of lines. Started by root, the broker would be somebody else.
func (m *mosquitto) write(name string, lines ...string) {
	if os.Getuid() == 0 && name == "mosquitto.conf" {
		lines = append([]string{"user root"}, lines...)
	}
	m.file(name, strings.Join(lines, "\n")+"\n")
}

// run starts the broker, or starts it again at the same address.
func (m *mosquitto) run(t *testing.T) {
	t.Helper()
	m.process = launch(t, exec.Command(m.program[0], append(m.program[1:], "-c", filepath.Join(m.dir, "mosquitto.conf"))...))
	eventually(t, "mosquitto to listen", func() bool {
		conn, err := net.Dial("tcp", m.Address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// freeze has the broker stand still, and thaw go on.
func (m *mosquitto) freeze() { _ = m.cmd.Process.Signal(syscall.SIGSTOP) }
func (m *mosquitto) thaw()   { _ = m.cmd.Process.Signal(syscall.SIGCONT) }

// options are those of a device at the broker.
func (m *mosquitto) options(clientID string) *paho.ClientOptions {
	return paho.NewClientOptions().AddBroker("tcp://" + m.Address).SetClientID(clientID).SetUsername("device").SetPassword(devicesPassword)
}

// tool is one of Debian's clients, connected as somebody.
func (m *mosquitto) tool(name, user, password string, args ...string) *exec.Cmd {
	host, port, _ := net.SplitHostPort(m.Address)
	return exec.Command(name, append([]string{"-h", host, "-p", port, "-u", user, "-P", password, "-V", "mqttv5"}, args...)...)
}

// publish publishes as the devices' user.
func (m *mosquitto) publish(args ...string) {
	m.t.Helper()
	if out, err := m.tool("mosquitto_pub", "device", devicesPassword, args...).CombinedOutput(); err != nil {
		m.t.Fatalf("mosquitto_pub: %v %s", err, out)
	}
}

// startHouseAt runs lintel serve with the owner's broker at an address.
func startHouseAt(t *testing.T, address string, lines ...string) *house {
	t.Helper()
	text := fmt.Sprintf("mqtt_upstream = 'mqtt://lintel@%s'\nmqtt_upstream_password = '%s'\n", address, lintelsPassword)
	return startHouse(t, "--config", written(t, text+strings.Join(lines, "\n")))
}

func (h *house) awaitLog(line string) {
	h.t.Helper()
	eventually(h.t, "the line "+line, func() bool { return strings.Contains(h.stderr.String(), line) })
}

const connectedUpstream = `msg="connected to the upstream broker"`

// addUpstream enrols a device that stays at the owner's broker.
func (h *house) addUpstream(driver string, args ...string) vendor {
	h.t.Helper()
	arguments := []string{"controller", "add", "--data", h.Data, "--json", "--user", h.Email, "--name", driver, "--driver", driver, "--upstream"}
	text := lintel(h.t, append(arguments, args...)...)
	if strings.Contains(text, "ltc_") || strings.Contains(text, `"secret"`) {
		h.t.Errorf("a secret that is good for nothing was printed: %s", text)
	}
	return parsed[vendor](h.t, text)
}
