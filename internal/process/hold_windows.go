package process

import (
	"os"
	"os/exec"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// needsGuardian: the system closes the job object with our process, which kills all in it. canAsk:
// there is no signal to ask a process to end with.
const needsGuardian, canAsk = false, false

func terminate(target) {}

// keepInherited: a child gets the handles that are named to it, and no others.
func keepInherited() {}

// hold is the job object of a child and of all it starts.
type hold struct{ job windows.Handle }

func setChildAttributes(*exec.Cmd)    {}
func setGuardianAttributes(*exec.Cmd) {}

// awaitLeader waits for the child.
func awaitLeader(cmd *exec.Cmd) { _ = cmd.Wait() }

// take puts the process into a job that is killed when its last handle closes, ours.
func (h *hold) take(process *os.Process) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	h.job = job
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = h.assign(uint32(process.Pid))
	}
	if err != nil {
		h.release()
	}
	return err
}

func (h *hold) assign(pid uint32) error {
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(handle)
	return windows.AssignProcessToJobObject(h.job, handle)
}

// release closes the job.
func (h *hold) release() {
	if h.job != 0 {
		_ = windows.CloseHandle(h.job)
		h.job = 0
	}
}

// anyLeft is false: a job ends as a whole.
func (h *hold) anyLeft(target) bool { return false }

// end kills the job.
func (h *hold) end(target, time.Duration) bool {
	if h.job != 0 {
		_ = windows.TerminateJobObject(h.job, 1)
	}
	return true
}
