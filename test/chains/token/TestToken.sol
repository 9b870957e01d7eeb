// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Behaves like USDT on Ethereum where that matters: six decimals, `transfer` without a return value, a pause, a black list and a
/// fee. Unlike USDT it refuses blocked destinations too, as USDT0 does.
contract TestToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public constant decimals = 6;
    string public constant symbol = "USDT";
    address public immutable owner = msg.sender;
    mapping(address => uint256) public balanceOf;
    mapping(address => bool) public isBlackListed;
    bool public paused;
    /// Taken from what is transferred, and given to the owner.
    uint256 public fee;
    /// Refuses every transfer without a reason that can be read.
    bool public broken;

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    function mint(address to, uint256 value) external onlyOwner {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function setPaused(bool is_paused) external onlyOwner {
        paused = is_paused;
    }

    function setBlackListed(address account, bool is_listed) external onlyOwner {
        isBlackListed[account] = is_listed;
    }

    function setFee(uint256 value) external onlyOwner {
        fee = value;
    }

    function setBroken(bool is_broken) external onlyOwner {
        broken = is_broken;
    }

    function transfer(address to, uint256 value) external {
        require(!paused && !broken);
        require(!isBlackListed[msg.sender] && !isBlackListed[to]);
        balanceOf[msg.sender] -= value;
        uint256 taken = fee < value ? fee : value;
        balanceOf[to] += value - taken;
        emit Transfer(msg.sender, to, value - taken);
        if (taken > 0) {
            balanceOf[owner] += taken;
            emit Transfer(msg.sender, owner, taken);
        }
    }
}
